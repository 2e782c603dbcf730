; # Typed write to a linear surface and typed read back, in another order; outside nothing is written and 0 is read.
; simd 8
; surface 1: 2D R8G8B8A8_UINT 4x2 pitch 16 at 10000
; set g20 UD: 0 1 2 3 0 3 4 0xffffffff
; set g21 UD: 0 0 0 0 1 1 0 0
; set g22 UD: 1 2 3 4 5 6 7 8
; set g23 UD: 16*8
; set g24 UD: 32 33 34 35 36 37 38 39
; set g25 UD: 255 256 0xffffffff 0 1 2 3 4
; set 10000 UD: 9*12
send(8) null<1>UD g20<8,8,1>UD 0x0c035001 dp data 1 MsgDesc: mlen 6 rlen 0 { align1 1Q };
send(8) g30<1>UD g20<8,8,1>UD 0x04415001 dp data 1 MsgDesc: mlen 2 rlen 4 { align1 1Q };
; is 10000 UD: 0xff201001 0xff211002 0xff221003 0x00231004 0x01241005 9 9 0x02251006 9 9 9 9
; is g30 UD: 1 2 3 4 5 6 0 0
; is g31 UD: 16*6 0 0
; is g33 UD: 255 255 255 0 1 2 0 0
---
; # The response of a typed read lies where its coordinates are; two channels.
; simd 8
; surface 1: 2D R32G32_SINT 8x1 pitch 64 at 10000
; set 10000 D: 0 10 1 11 2 12 3 13 4 14 5 15 6 16 7 17
; set g20 UD: 7 6 5 4 3 2 1 0
; set g21 UD: 0*8
send(8) g20<1>UD g20<8,8,1>UD 0x04215c01 dp data 1 MsgDesc: mlen 2 rlen 2 { align1 1Q };
; is g20 D: 7 6 5 4 3 2 1 0
; is g21 D: 17 16 15 14 13 12 11 10
---
; # Y tiling: columns of 16 bytes and 32 rows, tiles of 4 KiB in rows.
; simd 8
; surface 1: 2D R32_UINT 64x64 pitch 256 tiled Y at 10000
; set g20 UD: 0 3 4 31 32 0 33 63
; set g21 UD: 0 0 0 31 0 32 33 63
; set g22 UD: 1 2 3 4 5 6 7 8
; set g23 UD: 0*24
send(8) null<1>UD g20<8,8,1>UD 0x0c035001 dp data 1 MsgDesc: mlen 6 rlen 0 { align1 1Q };
; is 10000 UD: 1
; is 1000c UD: 2
; is 10200 UD: 3
; is 10ffc UD: 4
; is 11000 UD: 5
; is 12000 UD: 6
; is 13014 UD: 7
; is 13ffc UD: 8
---
; # X tiling: 8 rows of 512 bytes.
; simd 8
; surface 1: 2D R32_UINT 256x16 pitch 1024 tiled X at 10000
; set g20 UD: 0 127 0 127 128 0 129 255
; set g21 UD: 0 0 1 7 0 8 9 15
; set g22 UD: 1 2 3 4 5 6 7 8
; set g23 UD: 0*24
send(8) null<1>UD g20<8,8,1>UD 0x0c035001 dp data 1 MsgDesc: mlen 6 rlen 0 { align1 1Q };
; is 10000 UD: 1
; is 101fc UD: 2
; is 10200 UD: 3
; is 10ffc UD: 4
; is 11000 UD: 5
; is 12000 UD: 6
; is 13204 UD: 7
; is 13ffc UD: 8
---
; # A header's sample mask: the high half of it.
; simd 8
; surface 1: 1D R32_UINT 8 pitch 32 at 10000
; set g19 UD: 0 0 0 0 0 0 0 0x0f00
; set g20 UD: 0 1 2 3 4 5 6 7
; set g21 UD: 1 2 3 4 5 6 7 8
; set g22 UD: 0*24
; set 10000 UD: 99*8
send(8) null<1>UD g19<8,8,1>UD 0x0c0b6001 dp data 1 MsgDesc: mlen 6 rlen 0 header { align1 1Q };
; is 10000 UD: 1 2 3 4 99 99 99 99
---
; # One-dimensional arrays have their slices at a distance in texels.
; simd 8
; surface 1: 1D R16_UINT 5x1x4 array qpitch 8 pitch 64 at 10000
; set g20 UD: 0 4 0 4 0 4 5 0
; set g21 UD: 0 0 1 1 3 3 0 4
; set g22 UD: 1 2 3 4 5 6 7 8
; set g23 UD: 0*24
send(8) null<1>UD g20<8,8,1>UD 0x0c035001 dp data 1 MsgDesc: mlen 6 rlen 0 { align1 1Q };
; is 10000 UW: 1 0 0 0 2 0 0 0 3 0 0 0 4 0 0 0 0 0 0 0 0 0 0 0 5 0 0 0 6
---
; # Slices of two-dimensional arrays and planes of three dimensions are at a distance of QPitch rows.
; simd 8
; surface 1: 2D R32_UINT 4x3x2 array qpitch 4 pitch 16 at 10000
; surface 2: 3D R32_UINT 4x3x2 qpitch 4 pitch 16 at 11000
; set g20 UD: 0 3 0 3 0 0 4 0
; set g21 UD: 0 2 0 2 3 0 0 0
; set g22 UD: 0 0 1 1 0 2 0 0
; set g23 UD: 1 2 3 4 5 6 7 8
; set g24 UD: 0*24
send(8) null<1>UD g20<8,8,1>UD 0x0e035001 dp data 1 MsgDesc: mlen 7 rlen 0 { align1 1Q };
send(8) null<1>UD g20<8,8,1>UD 0x0e035002 dp data 1 MsgDesc: mlen 7 rlen 0 { align1 1Q };
; is 10000 UD: 8 0 0 0 0 0 0 0 0 0 0 2 0 0 0 0 3 0 0 0 0 0 0 0 0 0 0 4
; is 11000 UD: 8 0 0 0 0 0 0 0 0 0 0 2 0 0 0 0 3 0 0 0 0 0 0 0 0 0 0 4
---
; # Typed write, the sampler's cache_flush, read through the sampler.
; simd 8
; surface 1: 2D R32_UINT 8x1 pitch 64 at 10000
; set 10000 UD: 1 2 3 4 5 6 7 8
; set g20 UD: 0 1 2 3 4 5 6 7
; set g21 UD: 0*8
; set g22 UD: 11 12 13 14 15 16 17 18
; set g23 UD: 0*24
send(8) null<1>UD g20<8,8,1>UD 0x0c035001 dp data 1 MsgDesc: mlen 6 rlen 0 { align1 1Q };
send(8) g40<1>UD g20<8,8,1>UD 0x021ff000 sampler MsgDesc: mlen 1 rlen 1 { align1 1Q };
send(8) g30<1>UD g20<8,8,1>UD 0x0213a001 sampler MsgDesc: mlen 1 rlen 1 { align1 1Q };
; is g30 UD: 11 12 13 14 15 16 17 18
---
; # Buffers: the number of entries has 27 bits; the sampler loads from them.
; simd 8
; surface 1: BUFFER R16G16_SINT 300 at 10000
; set g20 UD: 0 1 299 300 2 3 0x8000000 0xffffffff
; set g21 UD: 1 2 3 4 5 6 7 8
; set g22 UD: 0xffff8000*8
; set g23 UD: 0*16
; set 10000 UD: 0*301
send(8) null<1>UD g20<8,8,1>UD 0x0a035001 dp data 1 MsgDesc: mlen 5 rlen 0 { align1 1Q };
send(8) g30<1>UD g20<8,8,1>UD 0x0243a001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; is 10000 UD: 0x80000001 0x80000002 0x80000005 0x80000006 0
; is 104ac UD: 0x80000003 0
; is g30 D: 1 2 3 0 5 6 0 0
; is g31 D: -32768 -32768 -32768 0 -32768 -32768 0 0
; is g32 D: 0*8
; is g33 D: 1*8
---
; # Typed atomic operations.
; simd 8
; surface 1: 2D R32_UINT 4x2 pitch 16 at 10000
; set g20 UD: 0 0 1 1 2 3 0 9
; set g21 UD: 0 0 0 0 1 1 0 0
; set g22 UD: 1 2 3 4 5 6 7 8
; set 10000 UD: 100*8
send(8) g30<1>UD g20<8,8,1>UD 0x0611a701 dp data 1 MsgDesc: mlen 3 rlen 1 { align1 1Q };
; is 10000 UD: 110 107 100 100 100 100 105 106
; is g30 UD: 100 101 100 103 100 100 103 0
---
; # Formats of 16 bits with three channels, written and loaded.
; simd 8
; surface 1: 1D B5G6R5_UNORM 8 pitch 16 at 10000
; set g20 UD: 0 1 2 3 4 5 6 7
; set g21 F: 1 0 0 0.5 2 -1 1 0
; set g22 F: 0 1 0 0.5 2 -1 1 0
; set g23 F: 0 0 1 0.5 2 -1 1 0
; set g24 F: 0*8
send(8) null<1>UD g20<8,8,1>UD 0x0a035001 dp data 1 MsgDesc: mlen 5 rlen 0 { align1 1Q };
send(8) g30<1>UD g20<8,8,1>UD 0x0243a001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; is 10000 UW: 0xf800 0x07e0 0x001f 0x8410 0xffff 0 0xffff 0
; is g30 F: 1 0 0 #3f042108 1 0 1 0
; is g31 F: 0 1 0 #3f020821 1 0 1 0
; is g33 F: 1*8
---
; # Formats of one channel: alpha, luminance, intensity; shader channels.
; simd 8
; surface 1: 1D A8_UNORM 8 pitch 8 at 10000
; surface 2: 1D L8_UNORM 8 pitch 8 at 10000
; surface 3: 1D I8_UNORM 8 pitch 8 at 10000
; surface 4: 1D R8_SINT 8 pitch 8 select 1r0r at 10000
; set 10000 UB: 0 255 51 102 204 0 255 128
; set g20 UD: 0 1 2 3 4 5 6 7
send(8) g30<1>UD g20<8,8,1>UD 0x0243a001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
send(8) g40<1>UD g20<8,8,1>UD 0x0243a002 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
send(8) g50<1>UD g20<8,8,1>UD 0x0243a003 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
send(8) g60<1>UD g20<8,8,1>UD 0x0243a004 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; is g30 F: 0*24 0 1 0.2 0.4 0.8 0 1
; is g40 F: 0 1 0.2 0.4 0.8 0 1
; is g42 F: 0 1 0.2 0.4 0.8 0 1
; is g43 F: 1*8
; is g50 F: 0 1 0.2 0.4 0.8 0 1
; is g53 F: 0 1 0.2 0.4 0.8 0 1
; is g60 D: 1*8 0 -1 51 102 -52 0 -1 -128 0*8 0 -1 51 102 -52 0 -1 -128
---
; # ld on Skylake: U, V, level, R. SIMD16, a level and a slice that do not exist.
; surface 1: 2D R32_UINT 4x2x2 array qpitch 8 pitch 32 levels 2 at 10000
; set g20 UD: 0 1 3 4 0 0 0 1 2 0 1 0 0 0 0 0
; set g22 UD: 0 0 1 0 2 0 0 0 0 0 0 1 0 0 0 0
; set g24 UD: 0 0 0 0 0 1 2 1 1 0 0 0 0 1 0 0xffffffff
; set g26 UD: 0 0 0 0 0 0 0 0 0 1 1 1 2 1 0xffffffff 0
; set 10000 UD: 1 2 3 4 0*4 5 6 7 8
; set 10080 UD: 21 22
; set 10100 UD: 11 12 13 14 0*4 15 16 17 18
; set 10180 UD: 31 32
send(16) g30<1>UD g20<8,8,1>UD 0x10847001 sampler MsgDesc: mlen 8 rlen 8 { align1 1H };
; is g30 UD: 1 2 8 0 0 21 0 22 0 11 12 15 0 31 0 0
; is g36 UD: 1*16
---
; # ld on Broadwell: U, level, V, R; planes of a level lie beside each other, twice as many with each level.
; device bdw
; simd 8
; surface 1: 3D R32_UINT 8x4x4 pitch 32 levels 2 at 10000
; set g20 UD: 0 7 0 0 0 3 0 0
; set g21 UD: 0 0 0 1 1 1 1 2
; set g22 UD: 0 3 0 0 0 1 0 0
; set g23 UD: 0 0 1 0 1 1 2 0
; set 10000 UD: 1
; set 1007c UD: 2
; set 10080 UD: 3
; set 10200 UD: 4 0 0 0 5 0 0 0 0 0 0 0 0 0 0 6
send(8) g30<1>UD g20<8,8,1>UD 0x08427001 sampler MsgDesc: mlen 4 rlen 4 { align1 1Q };
; is g30 UD: 1 2 3 4 5 6 0 0
---
; # Address modes, nearest texel of four.
; surface 1: 1D R32_FLOAT 4 pitch 16 at 10000
; sampler 0: nearest wrap
; set 10000 F: 10 11 12 13
; set g20 F: -1.3 -0.25 -0.1 0 0.24 0.25 0.99 1 1.1 2.3 0.5 0.75 -2 -1 5 -5
send(16) g30<1>UD g20<8,8,1>UD 0x04258001 sampler MsgDesc: mlen 2 rlen 2 { align1 1H };
; is g30 F: 12 13 13 10 10 11 13 10 10 11 12 13 10 10 10 10
---
; # The other modes and coordinates in texels.
; surface 1: 1D R32_FLOAT 4 pitch 16 at 10000
; sampler 1: nearest mirror
; sampler 2: nearest clamp texels
; sampler 3: nearest border texels border_colour bf800000 0 0 0
; sampler 4: nearest once
; set 10000 F: 10 11 12 13
; set g20 F: -1.3 -0.25 -0.1 0 0.24 0.25 0.99 1 1.1 2.3 0.5 0.75 -2 -1 5 -5
send(16) g30<1>UD g20<8,8,1>UD 0x04258101 sampler MsgDesc: mlen 2 rlen 2 { align1 1H };
send(16) g32<1>UD g20<8,8,1>UD 0x04258201 sampler MsgDesc: mlen 2 rlen 2 { align1 1H };
send(16) g34<1>UD g20<8,8,1>UD 0x04258301 sampler MsgDesc: mlen 2 rlen 2 { align1 1H };
send(16) g36<1>UD g20<8,8,1>UD 0x04258401 sampler MsgDesc: mlen 2 rlen 2 { align1 1H };
; is g30 F: 12 11 10 10 10 11 13 13 13 11 12 13 10 13 13 13
; is g32 F: 10 10 10 10 10 10 10 11 11 12 10 10 10 10 13 10
; is g34 F: -1 -1 -1 10 10 10 10 11 11 12 10 10 -1 -1 -1 -1
; is g36 F: 13 11 10 10 10 11 13 13 13 13 12 13 13 13 13 13
---
; # Linear filters have weights of eight bits; the border's colour takes part.
; simd 8
; surface 1: 2D R32_FLOAT 2x2 pitch 8 at 10000
; sampler 0: linear clamp texels rounded
; sampler 1: linear border texels rounded border_colour 0 0 0 0
; set 10000 F: 0 256 512 768
; set g20 F: 0.5 1 1.5 1 0 2 1.001953125 0.5
; set g21 F: 0.5 0.5 1.5 1 0 2 0.5 1.00390625
send(8) g30<1>UD g20<8,8,1>UD 0x04138001 sampler MsgDesc: mlen 2 rlen 1 { align1 1Q };
send(8) g31<1>UD g20<8,8,1>UD 0x04138101 sampler MsgDesc: mlen 2 rlen 1 { align1 1Q };
; is g30 F: 0 128 768 384 0 768 129 258
; is g31 F: 0 128 768 384 0 192 129 258
---
; # Linear filter in three dimensions; the border has alpha 1 where the format has none.
; simd 8
; surface 1: 3D R8_UNORM 2x2x2 qpitch 4 pitch 4 at 10000
; sampler 0: linear border rounded border_colour 0 0 0 0
; set 10000 UD: 0xff00 0 0 0 0xff00
; set g20 F: 0.75 0.5 0.5 0.75 1 1 2 0.25
; set g21 F: 0.25 0.25 0.5 0.25 0.25 0 0 0.25
; set g22 F: 0.25 0.25 0.5 0.5 0.25 0.25 0 0.25
send(8) g30<1>UD g20<8,8,1>UD 0x06438001 sampler MsgDesc: mlen 3 rlen 4 { align1 1Q };
; is g30 F: 1 0.5 0.25 1 0.5 0.25 0 0
; is g33 F: 1*8
---
; # Layers of arrays: the nearest, limited to those that there are.
; simd 8
; surface 1: 2D R32_UINT 1x1x3 array qpitch 4 pitch 4 at 10000
; sampler 0: nearest clamp
; set 10000 UD: 1 0 0 0 2 0 0 0 3
; set g20 F: 0.5*8
; set g21 F: 0.5*8
; set g22 F: -1 0 0.5 0.51 1.5 1.4 2 7
send(8) g30<1>UD g20<8,8,1>UD 0x06138001 sampler MsgDesc: mlen 3 rlen 1 { align1 1Q };
; is g30 UD: 1 1 1 2 3 2 3 3
---
; # Levels of detail: sample_l, nearest level and mixture of two.
; simd 8
; surface 1: 2D R32_FLOAT 4x4 pitch 32 levels 3 at 10000
; sampler 0: nearest clamp mip nearest
; sampler 1: nearest clamp mip linear
; sampler 2: nearest clamp
; set 10000 F: 100*32
; set 10080 F: 200 200
; set 100a0 F: 200 200
; set 10090 F: 400
; set g20 F: 0 0.4 0.5 1 1.25 1.6 2 9
; set g21 F: 0.1*8
; set g22 F: 0.1*8
send(8) g30<1>UD g20<8,8,1>UD 0x06122001 sampler MsgDesc: mlen 3 rlen 1 { align1 1Q };
send(8) g31<1>UD g20<8,8,1>UD 0x06122101 sampler MsgDesc: mlen 3 rlen 1 { align1 1Q };
send(8) g32<1>UD g20<8,8,1>UD 0x06122201 sampler MsgDesc: mlen 3 rlen 1 { align1 1Q };
; is g30 F: 100 100 200 200 200 400 400 400
; is g31 F: 100 #430bd800 150 200 250
; is g32 F: 100*8
---
; # A header leaves channels out and moves the texels; the response has 16 bits.
; simd 8
; surface 1: 1D R32G32_FLOAT 8 pitch 64 at 10000
; sampler 0: nearest clamp texels
; set 10000 F: 0 100 1 101 2 102 3 103 4 104 5 105 6 106 7 107
; set g19 UD: 0 0 0x1f00 0 0 0 0 0
; set g20 F: 1 2 3 4 5 6 7 0
send(8) g30<1>UD g19<8,8,1>UD 0x043b8001 sampler MsgDesc: mlen 2 rlen 3 header { align1 1Q };
send(8) g34<1>UD g20<8,8,1>UD 0x42238001 sampler MsgDesc: mlen 1 rlen 2 { align1 1Q };
; is g30 F: 100 101 102 103 104 105 106 100
; is g32 F: 1*8
; is g34 HF: 1 2 3 4 5 6 7 0
; is g35 HF: 101 102 103 104 105 106 107 100
---
; # resinfo
; simd 8
; surface 1: 2D R8_UNORM 40x30x5 array qpitch 32 pitch 64 levels 3 at 10000
; surface 2: 3D R8_UNORM 40x30x5 qpitch 32 pitch 64 levels 3 at 10000
; surface 3: 1D R8_UNORM 40x1x5 array qpitch 64 pitch 64 at 10000
; surface 4: BUFFER R8_UNORM 1000 at 10000
; set g20 UD: 0 1 2 3 0 0 0 0
send(8) g30<1>UD g20<8,8,1>UD 0x0242a001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
send(8) g40<1>UD g20<8,8,1>UD 0x0242a002 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
send(8) g50<1>UD g20<8,8,1>UD 0x0242a003 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
send(8) g60<1>UD g20<8,8,1>UD 0x0212a004 sampler MsgDesc: mlen 1 rlen 1 { align1 1Q };
; is g30 UD: 40 20 10 0 40 40 40 40 30 15 7 0 30 30 30 30 5 5 5 0 5 5 5 5 3*8
; is g42 UD: 5 2 1 0 5 5 5 5 3*8
; is g50 UD: 40 0 0 0 40 40 40 40 5 0 0 0 5 5 5 5
; is g60 UD: 1000
---
; # The response of a message to the sampler lies where its parameters are.
; surface 1: 2D R32G32_UINT 4x4 pitch 32 at 10000
; set 10000 UD: 0 100 1 101 2 102 3 103 10 110 11 111 12 112 13 113 20 120 21 121 22 122 23 123 30 130 31 131 32 132 33 133
; set g20 UD: 0 1 2 3 0 1 2 3 0 1 2 3 0 1 2 3
; set g22 UD: 0 0 0 0 1 1 1 1 2 2 2 2 3 3 3 3
send(16) g19<1>UD g20<8,8,1>UD 0x0845a001 sampler MsgDesc: mlen 4 rlen 4 { align1 1H };
; is g19 UD: 0 1 2 3 10 11 12 13 20 21 22 23 30 31 32 33 100 101 102 103 110 111 112 113 120 121 122 123 130 131 132 133
---
; # A null surface reads 0.
; simd 8
; surface 1: NULL R8G8B8A8_UNORM 1
; sampler 0: linear border
; set g20 F: 0*8
; set g21 F: 0*8
; set g22 UD: 5*32
send(8) g30<1>UD g20<8,8,1>UD 0x04438001 sampler MsgDesc: mlen 2 rlen 4 { align1 1Q };
send(8) null<1>UD g20<8,8,1>UD 0x0c035001 dp data 1 MsgDesc: mlen 6 rlen 0 { align1 1Q };
; is g30 UD: 0*32
---
; # Media blocks: whatever the lanes are, beyond the edges the outermost texels.
; simd 8
; mask 1
; surface 1: 2D R32_UINT 4x4 pitch 16 at 10000
; set 10000 UD: 0 1 2 3 10 11 12 13 20 21 22 23 30 31 32 33
; set g20 D: -4 -1 0x00030007 0 0 0 0 0
; set g22 D: 8 3 0x0001000f 0 0 0 0 0
; set g23 UD: 100 101 102 103 110 111 112 113
send(8) g30<1>UD g20<8,8,1>UD 0x02190001 dp data 1 MsgDesc: mlen 1 rlen 1 header { align1 WE_all 1Q };
send(8) null<1>UD g22<8,8,1>UD 0x040a8001 dp data 1 MsgDesc: mlen 2 rlen 0 header { align1 WE_all 1Q };
; is g30 UD: 0 0 0 0 10 10 20 20
; is 10030 UD: 30 31 100 101
; is 10040 UD: 0
---
; # A block of bytes whose rows are not a power of two.
; simd 8
; surface 1: 2D R8_UINT 4x4 pitch 16 at 10000
; set 10000 UB: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
; set g20 D: 3 0 0x00010004 0 0 0 0 0
send(8) g30<1>UD g20<8,8,1>UD 0x02190001 dp data 1 MsgDesc: mlen 1 rlen 1 header { align1 WE_all 1Q };
; is g30.0 UB: 3 4 5 6 7
; is g30.8 UB: 19 20 21 22 23
---
; # What is refused: a filter for integers.
; simd 8
; surface 1: 1D R32_UINT 4 pitch 16 at 10000
; sampler 0: linear clamp
; set g20 F: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02438001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: a linear filter on format R32_UINT
---
; # A typed read that does not convert.
; simd 8
; surface 1: 1D R8_UNORM 4 pitch 4 at 10000
; set g20 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02415001 dp data 1 MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: a typed read of format R8_UNORM
---
; # A typed read that Skylake converts and Broadwell does not.
; simd 8
; device bdw
; surface 1: 1D R8_SINT 4 pitch 4 at 10000
; set g20 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02415001 dp data 1 MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: a typed read of format R8_SINT
---
; # A typed write without a channel of the format; not strict, the channel keeps its value.
; simd 8
; lenient
; mask 1
; surface 1: 1D R8G8_UINT 8 pitch 16 at 10000
; set g20 UD: 0 0 0 0 0 0 0 0
; set g21 UD: 7*8
; set 10000 UW: 0x0909
send(8) null<1>UD g20<8,8,1>UD 0x04035d01 dp data 1 MsgDesc: mlen 2 rlen 0 { align1 1Q };
; is 10000 UW: 0x0709
---
; # The same in strict mode.
; simd 8
; surface 1: 1D R8G8_UINT 8 pitch 16 at 10000
; set g20 UD: 0*8
; set g21 UD: 7*8
send(8) null<1>UD g20<8,8,1>UD 0x04035d01 dp data 1 MsgDesc: mlen 2 rlen 0 { align1 1Q };
; fault: without all channels
---
; # Tilings that are not simulated.
; simd 8
; surface 1: 2D R8_UINT 4x4 tiled Yf pitch 128 at 10000
; set g20 UD: 0*8
; set g21 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x04415001 dp data 1 MsgDesc: mlen 2 rlen 4 { align1 1Q };
; fault: a surface with Yf or Ys tiling
---
; # A pitch that is not whole tiles.
; simd 8
; surface 1: 2D R8_UINT 4x4 tiled Y pitch 64 at 10000
; set g20 UD: 0*8
; set g21 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x04415001 dp data 1 MsgDesc: mlen 2 rlen 4 { align1 1Q };
; fault: pitch 64 is not whole tiles
---
; # Buffers have no coordinates for filters.
; simd 8
; surface 1: BUFFER R8_UNORM 4 at 10000
; sampler 0: nearest clamp
; set g20 F: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02438001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: a buffer surface is sampled
---
; # Broadwell has no sample_lz.
; simd 8
; device bdw
; surface 1: 1D R8_UNORM 4 pitch 4 at 10000
; sampler 0: nearest clamp
; set g20 F: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02438001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: LevelZero, which the generation does not have
---
; # Typed messages take no shared local memory.
; simd 8
; local 1024
; surface 1: 1D R8_UNORM 4 pitch 4 at 10000
; set g20 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x024150fe dp data 1 MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: typed access through binding table index 254
---
; # Entries of a buffer may overlap: four dwords at any byte.
; simd 8
; surface 1: BUFFER R32G32B32A32_UINT 32 pitch 1 at 10000
; set 10000 UD: 1 2 3 4 5 6 7 8 9 10 11 12
; set g20 UD: 0 4 8 12 16 20 31 32
send(8) g30<1>UD g20<8,8,1>UD 0x02427001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; is g30 UD: 1 2 3 4 5 6 0x900 0
; is g33 UD: 4 5 6 7 8 9 0xc00 0
---
; # Not for typed messages.
; simd 8
; surface 1: BUFFER R32_UINT 8 pitch 2 at 10000
; set g20 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02415001 dp data 1 MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: a typed message, and pitch 2 is not whole texels of 4 bytes
---
; # More surfaces than the interface descriptor has.
; simd 8
; used 1 4
; surface 1: 1D R8_UNORM 4 pitch 4 at 10000
; sampler 0: nearest clamp
; set g20 F: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02438001 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: surface 1, of 1 that the interface descriptor has
---
; # More samplers.
; simd 8
; used 2 4
; surface 1: 1D R8_UNORM 4 pitch 4 at 10000
; sampler 0: nearest clamp
; set g20 F: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x02438401 sampler MsgDesc: mlen 1 rlen 4 { align1 1Q };
; fault: sampler 4, of 4 that the interface descriptor has
---
; # Slices that overlap.
; simd 8
; surface 1: 2D R8_UINT 4x8x2 array pitch 4 qpitch 4 at 10000
; set g20 UD: 0*8
; set g21 UD: 0*8
; set g22 UD: 0*8
send(8) g30<1>UD g20<8,8,1>UD 0x06415001 dp data 1 MsgDesc: mlen 3 rlen 4 { align1 1Q };
; fault: QPitch 4 is less than a slice of 8
