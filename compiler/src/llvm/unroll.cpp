// Loops that are unrolled for reasons that LLVM's own pass does not know of.
//
// An array in private memory that a loop indexes costs a message for each access; when the loop is unrolled, the indices are known and the
// array's elements are registers. LLVM's thresholds weigh the size of code alone, as on a CPU, where such an array is in the cache.
//
// Indices such as `i & 15` are known in rounds of 16, so that a long loop needs not be unrolled as a whole.

#include "analyses.h"

#include <llvm-c/Core.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/Error.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include <numeric>

namespace {

// The largest array in bytes: 32 registers of four bytes in each lane are half of the register file with 16 lanes. A larger one may
// still fit, if not all of it is alive at once.
constexpr uint64_t largest_array = 512;
// Instructions of a loop after unrolling.
constexpr uint64_t largest_loop = 8192;
// The same when unrolling a part of it makes all indices known, too.
constexpr uint64_t largest_periodic_loop = 1024;

bool is_small_array(const llvm::Value *pointer, const llvm::DataLayout &layout) {
  const auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
  auto size = alloca ? alloca->getAllocationSize(layout) : std::nullopt;
  return size && size->getFixedValue() <= largest_array;
}

// The addresses in small private arrays that a loop accesses and that depend on its own progress.
llvm::SmallVector<const llvm::Value *> small_array_accesses(const llvm::Loop &loop, const llvm::DataLayout &layout) {
  llvm::SmallVector<const llvm::Value *> pointers;
  for (const llvm::BasicBlock *block : loop.blocks()) {
    for (const llvm::Instruction &instruction : *block) {
      const llvm::Value *pointer = llvm::getLoadStorePointerOperand(&instruction);
      if (pointer && !loop.isLoopInvariant(pointer) && is_small_array(pointer, layout)) {
        pointers.push_back(pointer);
      }
    }
  }
  return pointers;
}

// After how many rounds of a loop an index comes again; 0: who knows.
uint64_t period(const llvm::Value *index, const llvm::Loop &loop, llvm::ScalarEvolution &evolution) {
  using namespace llvm::PatternMatch;
  if (loop.isLoopInvariant(index)) {
    return 1;
  }
  llvm::Value *source = nullptr;
  if (match(index, m_ZExtOrSExt(m_Value(source))) || match(index, m_Trunc(m_Value(source)))) {
    return period(source, loop, evolution);
  }
  const llvm::APInt *mask = nullptr;
  if (!match(index, m_And(m_Value(source), m_LowBitMask(mask)))) {
    return 0;
  }
  const auto *progress = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(source));
  const auto *step = progress && progress->getLoop() == &loop && progress->isAffine()
                         ? llvm::dyn_cast<llvm::SCEVConstant>(progress->getStepRecurrence(evolution))
                         : nullptr;
  if (!step || mask->uge(largest_array)) {
    return 0;
  }
  const uint64_t length = mask->getZExtValue() + 1;
  return length / std::gcd(length, step->getAPInt().abs().getLimitedValue());
}

// After how many rounds all addresses come again; 0: who knows.
uint64_t period(llvm::ArrayRef<const llvm::Value *> pointers, const llvm::Loop &loop, llvm::ScalarEvolution &evolution) {
  uint64_t common = 1;
  for (const llvm::Value *pointer : pointers) {
    for (; !loop.isLoopInvariant(pointer); pointer = llvm::cast<llvm::GEPOperator>(pointer)->getPointerOperand()) {
      const auto *element = llvm::dyn_cast<llvm::GEPOperator>(pointer);
      if (!element) {
        return 0;
      }
      for (const llvm::Value *index : element->indices()) {
        const uint64_t own = period(index, loop, evolution);
        if (own == 0) {
          return 0;
        }
        common = std::lcm(common, own);
      }
    }
  }
  return common;
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
  const auto accesses = small_array_accesses(loop, layout);
  if (accesses.empty() || has_hint(loop)) {
    return instructions;
  }
  const uint64_t count = evolution.getSmallConstantTripCount(&loop);
  if (count < 2) {
    return instructions;
  }
  if (instructions * count > largest_periodic_loop) {
    const uint64_t rounds = period(accesses, loop, evolution);
    if (rounds > 1 && count > rounds && count % rounds == 0 && instructions * rounds <= largest_loop) {
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", rounds);
      return instructions * rounds;
    }
  }
  if (instructions * count <= largest_loop) {
    llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full", 1);
    return instructions * count;
  }
  return instructions;
}

// Does a loop of the function access a small private array by its progress?
bool has_candidates(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
  const llvm::DataLayout &layout = function.getDataLayout();
  return llvm::any_of(analyses.getResult<llvm::LoopAnalysis>(function), [&](const llvm::Loop *loop) {
    return !small_array_accesses(*loop, layout).empty();
  });
}

} // namespace

extern "C" {

// Unrolls loops over small private arrays, unless the source says something about their unrolling. Before, loops over a range of which a
// condition in it tells the beginning from the rest are cut in two.
void gencl_unroll_loops(LLVMModuleRef module) {
  Analyses analyses;
  llvm::FunctionPassManager before, unroll;
  llvm::cantFail(analyses.builder.parsePassPipeline(before, "loop-simplify,lcssa,loop(loop-rotate,indvars,loop-bound-split),"
                                                              "instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify"));
  unroll.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2, /*OnlyWhenForced=*/true)));
  for (llvm::Function &function : *llvm::unwrap(module)) {
    if (function.isDeclaration() || !has_candidates(function, analyses.functions)) {
      continue;
    }
    auto run = [&](llvm::FunctionPassManager &passes) {
      analyses.functions.invalidate(function, passes.run(function, analyses.functions));
    };
    run(before);
    auto &evolution = analyses.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (llvm::Loop *loop : analyses.functions.getResult<llvm::LoopAnalysis>(function)) {
      mark(*loop, evolution, function.getDataLayout());
    }
    run(unroll);
  }
}

} // extern "C"
