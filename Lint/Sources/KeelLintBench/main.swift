import Foundation
import KeelLint
import SwiftParser
import Synchronization

let root = CommandLine.arguments[1]
let clock = ContinuousClock()
let files = SourceDiscovery.search(root).files
func bare() -> Duration {
    let next = Mutex0()
    return clock.measure {
        ProjectLoader.onThreads(2) {
            while let i = next.take(files.count) {
                let d = try! Data(contentsOf: URL(fileURLWithPath: root + "/" + files[i]))
                d.withUnsafeBytes { b in
                    withExtendedLifetime(Parser.parse(source: b.bindMemory(to: UInt8.self))) {}
                }
            }
        }
    }
}
final class Mutex0: Sendable {
    let n = Atomic(0)
    func take(_ c: Int) -> Int? {
        let v = n.add(1, ordering: .relaxed).oldValue
        return v < c ? v : nil
    }
}
let cacheFile = URL(fileURLWithPath: "/tmp/facts.cache")
for _ in 0..<5 {
    print("parse", bare())
    try? FileManager.default.removeItem(at: cacheFile)
    var l = ProjectLoader(root: root, cache: FactCache(at: cacheFile), threads: 2)
    print("cold", clock.measure { print(l.load().files.count) })
    print(
        "warm",
        clock.measure {
            l.cache = FactCache(at: cacheFile)
            print(l.load().fromCache)
        }
    )
}
