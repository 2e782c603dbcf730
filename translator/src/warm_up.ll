; What translations usually have: a loop over lanes under masks, an inlined function.
define i32 @group(ptr %frame) {
  %ended = call i32 @thread(ptr %frame)
  ret i32 %ended
}

define internal i32 @thread(ptr %frame) alwaysinline {
entry:
  %place = alloca i32
  store i32 0, ptr %place
  br label %loop

loop:
  %sum = phi <16 x float> [ zeroinitializer, %entry ], [ %next, %loop ]
  %round = load i32, ptr %place
  %wide = zext i32 %round to i64
  %at = getelementptr inbounds float, ptr %frame, i64 %wide
  %first = insertelement <16 x i32> poison, i32 %round, i64 0
  %all = shufflevector <16 x i32> %first, <16 x i32> poison, <16 x i32> zeroinitializer
  %mask = icmp slt <16 x i32> %all, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %read = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %at, i32 4, <16 x i1> %mask, <16 x float> zeroinitializer)
  %product = fmul <16 x float> %read, %read
  %other = fadd <16 x float> %product, %sum
  %next = select <16 x i1> %mask, <16 x float> %other, <16 x float> %sum
  %more = add i32 %round, 16
  store i32 %more, ptr %place
  %left = icmp ult i32 %more, 1024
  br i1 %left, label %loop, label %end

end:
  call void @llvm.masked.store.v16f32.p0(<16 x float> %next, ptr %frame, i32 4, <16 x i1> %mask)
  ret i32 0
}

declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32, <16 x i1>)
