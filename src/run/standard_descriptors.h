#pragma once

namespace leasehold {

// Occupies those of the descriptors 0, 1 and 2 that were closed when the program started, so that no file it
// opens becomes its standard output. Using them still fails, and commands it runs find them closed. To be
// called before any file is opened.
void keep_standard_descriptors();

}  // namespace leasehold
