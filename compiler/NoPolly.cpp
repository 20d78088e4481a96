// Debian's LLVM has Polly in its link-time optimizer, which is linked in with lld and never runs here. The archive of Polly
// is in another package.
#include <cstdlib>

extern "C" [[noreturn]] void getPollyPluginInfo() __asm__("_Z18getPollyPluginInfov");
void getPollyPluginInfo() { std::abort(); }
