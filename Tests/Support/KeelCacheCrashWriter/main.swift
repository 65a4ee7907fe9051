// Writes to a cache folder until it is killed, and prints each step once it has returned; see DiskKillTests, which
// knows the effect of each step.

import Foundation
import KeelCache

let arguments = CommandLine.arguments
guard arguments.count == 3, let first = Int(arguments[2]) else {
    FileHandle.standardError.write(Data("usage: KeelCacheCrashWriter <folder> <first>\n".utf8))
    exit(2)
}
var configuration = DiskCacheTier.Configuration(byteLimit: 64 << 20)
configuration.segmentByteCount = 32 << 10
let tier = try DiskCacheTier(at: URL(fileURLWithPath: arguments[1]), configuration: configuration)
var number = first
while true {
    // Each value begins with its step, which determines its length and filling.
    let count = number % 23 == 0 ? 50_000 : number * 37 % 3000
    let value =
        withUnsafeBytes(of: UInt64(number).littleEndian) { Array($0) }
        + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count)
    let record = CacheRecord(
        key: Array("key-\(number % 40)".utf8),
        body: .bytes(value),
        created: CacheInstant(microseconds: Int64(number)),
        tags: ["tag-\(number % 3)"]
    )
    try await tier.write([record])
    if number % 5 == 0 { try await tier.remove(.keys([Array("key-\((number + 7) % 40)".utf8)])) }
    if number % 50 == 0 { try await tier.remove(.tag("tag-\(number / 50 % 3)")) }
    if number % 10 == 0 { try await tier.flush() }
    // Writing a short line to a pipe is atomic.
    FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    number += 1
}
