// Loops that are to be unrolled for reasons that LLVM's own pass does not know of.
//
// An array in private memory that a loop indexes costs a message for each access; when the loop is unrolled, the indices are known and the
// array's elements are registers. LLVM's thresholds weigh the size of code alone, as on a CPU, where such an array is in the cache.

#include <llvm-c/Core.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

namespace {

// The largest array in bytes: 32 registers of four bytes in each lane are half of the register file with 16 lanes. A larger one may
// still fit, if not all of it is alive at once.
constexpr uint64_t largest_array = 512;
// Instructions of a loop after unrolling.
constexpr uint64_t largest_loop = 8192;

bool is_small_array(const llvm::Value *pointer, const llvm::DataLayout &layout) {
  const auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
  auto size = alloca ? alloca->getAllocationSize(layout) : std::nullopt;
  return size && size->getFixedValue() <= largest_array;
}

// Does the loop access a small private array at places that depend on its own progress?
bool indexes_small_array(const llvm::Loop &loop, const llvm::DataLayout &layout) {
  for (const llvm::BasicBlock *block : loop.blocks()) {
    for (const llvm::Instruction &instruction : *block) {
      const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (pointer && !loop.isLoopInvariant(pointer) && is_small_array(pointer, layout)) {
        return true;
      }
    }
  }
  return false;
}

bool has_hint(const llvm::Loop &loop) {
  for (const char *name : {"llvm.loop.unroll.disable", "llvm.loop.unroll.enable", "llvm.loop.unroll.full", "llvm.loop.unroll.count"}) {
    if (loop.getLoopID() && llvm::GetUnrollMetadata(loop.getLoopID(), name)) {
      return true;
    }
  }
  return false;
}

// Marks a loop and those within. Returns its instructions after unrolling.
uint64_t mark(llvm::Loop &loop, llvm::ScalarEvolution &evolution, const llvm::DataLayout &layout) {
  uint64_t instructions = 0;
  for (const llvm::BasicBlock *block : loop.blocks()) {
    instructions += block->size();
  }
  for (llvm::Loop *inner : loop) {
    uint64_t once = 0;
    for (const llvm::BasicBlock *block : inner->blocks()) {
      once += block->size();
    }
    instructions += mark(*inner, evolution, layout) - once;
  }
  const uint64_t count = evolution.getSmallConstantTripCount(&loop);
  const bool pays = count > 1 && instructions * count <= largest_loop && !has_hint(loop);
  if (pays && indexes_small_array(loop, layout)) {
    llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full");
    return instructions * count;
  }
  return instructions;
}

} // namespace

extern "C" {

// Gives loops over small private arrays the mark of `#pragma unroll`, unless the source says something about their unrolling.
void gencl_mark_loops(LLVMModuleRef module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  for (llvm::Function &function : *llvm::unwrap(module)) {
    if (function.isDeclaration()) {
      continue;
    }
    auto &evolution = functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::Loop *loop : functions.getResult<llvm::LoopAnalysis>(function)) {
      mark(*loop, evolution, function.getDataLayout());
    }
  }
}

} // extern "C"
