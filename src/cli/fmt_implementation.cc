// fmt's own code, from its installed headers, so that the program needs no shared library of it
// (cmake/static_lease.cmake). Everything here is what other translation units expect to find elsewhere.
#include <fmt/format-inl.h>

template fmt::detail::dragonbox::decimal_fp<float> fmt::detail::dragonbox::to_decimal(float);
template fmt::detail::dragonbox::decimal_fp<double> fmt::detail::dragonbox::to_decimal(double);
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl(locale_ref);
template char fmt::detail::decimal_point_impl(locale_ref);
template void fmt::detail::buffer<char>::append(const char*, const char*);
template void fmt::detail::vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>,
                                      locale_ref);
