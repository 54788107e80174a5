// What lease-serve does (src/daemon), as users see it. A program of its own, so that no other command pays
// for what only the daemon needs.
#include "cli/commands.h"

namespace leasehold {
namespace {

constexpr OptionSpec kServeOptions[] = {
    {"--listen",
     "ADDRESS",
     "unix:PATH or HOST:PORT; a socket in the folder of an embedded store is opened in any case",
     {},
     true},
    {"--tls-cert", "FILE", "Speak TLS on TCP, with this certificate (PEM, the chain behind it)"},
    {"--tls-key", "FILE", "Its private key"},
    {"--client-ca", "FILE", "Let in whoever has a certificate of this authority, as the agent it names"},
    {"--host", "NAME", "Also answer requests that are addressed to this name", {}, true},
    {"--open-to-loopback", {}, "Let every user of this machine in over TCP, as an operator, without a token"},
    {"--log", "FORMAT", "How to write the log on standard error", "text json"},
};

constexpr Example kServeExamples[] = {
    {"lease serve",
     "for all processes of this user: export LEASE_STORE=http+unix:/PATH/TO/.git/leasehold/socket"},
    {"lease serve --listen 0.0.0.0:7420 --tls-cert server.pem --tls-key server.key",
     "for other machines, with tokens"},
    {"lease serve --store redis://db --listen 127.0.0.1:7420", "in front of another store"},
};

constexpr OptionSpec kTokenOptions[] = {
    {"--role", "ROLE", "What it may do; an agent unless said otherwise", "agent operator read-only"},
    {"--agent", "NAME", "The only agent it may act for; the role agent needs it, or --any-agent"},
    {"--any-agent", {}, "Let whoever has it act as any agent: renew, release and hand over what others hold"},
    {"--expires", "DURATION", "When it is over; never unless said otherwise"},
    {"--note", "TEXT", "Whose it is; for people"},
};

constexpr Example kTokenExamples[] = {
    {"lease token create --agent ci --expires 720h --note 'nightly builds'", "prints the secret, once"},
    {"lease token create --role read-only --note dashboard", "looks, and changes nothing"},
    {"lease token revoke 1f2e3d4c5b6a",
     "counts at once if the daemon gets SIGHUP, also for who waits; else at its next start"},
};

}  // namespace

const Command kServe = {
    .name = "serve",
    .synopsis = "[--listen ADDRESS]... [--tls-cert FILE --tls-key FILE [--client-ca FILE]]",
    .summary = "Serve leases to other machines, containers and languages, over HTTP",
    .description =
        "Answers the HTTP API (docs/api.md) on a Unix socket, TCP or both, on the workspace's embedded store "
        "or on "
        "the one that --store names. What it has answered survives a power cut: after a reboot leases of "
        "other "
        "machines go on for their TTL. On a Unix socket whoever has the same user is let in; over TCP a "
        "token (lease token create) or a certificate is needed.\n\n"
        "Takes sockets from systemd, tells it when it is ready, and stops on SIGTERM when what was begun is "
        "answered. SIGHUP has it read tokens and certificates again.",
    .uses = Uses::workspace,
    .options = kServeOptions,
    .examples = kServeExamples,
    .program = "lease-serve",
};

const Command kToken = {
    .name = "token",
    .synopsis =
        "create --agent NAME|--any-agent|--role ROLE [--expires DURATION] [--note TEXT]\nlist\nrevoke ID",
    .summary = "Make, list and revoke the tokens that let clients in over TCP",
    .description =
        "A token is a secret that a client of lease serve sends along. Only its hash is kept, in "
        "~/.config/leasehold/tokens.json (or the file that LEASE_TOKENS or, inside of lease run, "
        "LEASE_TOKEN_FILE names), so it is shown once, when it "
        "is "
        "made. An agent's token acts for that agent only; an operator's may end and move other owners' "
        "leases. One made with --any-agent is believed whatever name it is used with: each of those who "
        "share it can do with another's leases what their owner can. It is for groups that trust one "
        "another.",
    .uses = Uses::nothing,
    .operands = {"VERB", "create, list or revoke", 1, 2},
    .options = kTokenOptions,
    .examples = kTokenExamples,
    .program = "lease-serve",
};

}  // namespace leasehold
