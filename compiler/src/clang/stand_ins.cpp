// What archives of clang and LLVM call in a static link and should not get from elsewhere.

#include <llvm/Passes/PassPlugin.h>

#include <cstdint>
#include <stdlib.h>
#include <sys/random.h>

// Debian's LLVM has Polly as an extension, which clang registers with each pass pipeline. The extension's own archive has an
// optimiser of loops over polyhedra, which this compiler's pipeline never asks for.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "polly", LLVM_VERSION_STRING, [](llvm::PassBuilder &) {}};
}

// The only function that glibc 2.34, of Red Hat Enterprise Linux 9, does not have yet. It names temporary files.
extern "C" uint32_t arc4random() noexcept {
  uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    abort();
  }
  return number;
}
