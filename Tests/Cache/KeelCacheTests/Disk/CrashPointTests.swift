import Foundation
import KeelCache
import KeelTestKit
import KeelTestSupport
import Testing

/// Stops random programs after every step, and checks what the folder contains when reopened.
///
/// `KEEL_CACHE_CRASHES` sets the number of crashes, `KEEL_SEED` repeats a run.
@Suite("Crashes of the disk tier")
struct CrashPointTests {
    private static let crashCount = TestLength.count("KEEL_CACHE_CRASHES", 1_000, thorough: 5_000)
    private static let seed = SeededRandom.chosenSeed()

    @Test("A killed process leaves all accepted entries and no removed ones")
    func kills() async throws {
        try await Self.crash("kill", Self.crashCount / 2) { script, count, disk, random in
            var torn = 0
            let steps = script.files.steps
            if count < steps.count, case .write(_, _, let bytes) = steps[count] {
                torn = Int.random(in: 0...bytes.count, using: &random)
            }
            var disk = disk
            if torn > 0 { disk.repeat(steps[count], upTo: torn) }
            let mayMiss = script.limit < 100_000
            return Outcome(disk: disk) { found, before, after, key in
                if mayMiss, found == nil { return true }
                return found == before.values[key] || found == after.values[key]
            }
        }
    }

    @Test("A power failure leaves no wrong bytes and undoes no flushed removal")
    func powerFailures() async throws {
        try await Self.crash("power failure", Self.crashCount / 4) { script, count, _, random in
            let disk = script.files.disk(afterPowerFailureAt: count, using: &random)
            return Outcome(disk: disk) { found, before, after, key in
                guard let found else { return true }
                return before.history[key]?.contains(found) == true
                    || after.history[key]?.contains(found) == true
            }
        }
    }

    @Test("Damage leaves no wrong bytes, and old values only if the end of the log is lost")
    func damage() async throws {
        try await Self.crash("damage", Self.crashCount / 4) { _, _, disk, random in
            var disk = disk
            let paths = disk.paths.keys.filter { disk[$0]?.isEmpty == false }.sorted()
            guard let path = paths.randomElement(using: &random), var content = disk[path] else {
                return Outcome(disk: disk) { _, _, _, _ in true }
            }
            let position = Int.random(in: 0..<content.count, using: &random)
            if Bool.random(using: &random) {
                content[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            } else {
                content.removeLast(content.count - position)
            }
            disk[path] = content
            let isLogEnd = path == paths.last { $0.hasSuffix(".segment") }
            return Outcome(disk: disk) { found, before, after, key in
                guard let found else { return true }
                if isLogEnd {
                    return before.everSet[key]?.contains(found) == true
                        || after.everSet[key]?.contains(found) == true
                }
                return found == before.values[key] || found == after.values[key]
            }
        }
    }

    // MARK: Running

    private struct Outcome {
        var disk: SimulatedDisk
        /// Whether a value is allowed, given the models before and after the call in progress.
        var isAllowed: ([UInt8]?, KeyModel, KeyModel, String) -> Bool
    }

    private static func crash(
        _ what: String,
        _ total: Int,
        _ outcome: (CrashScript, Int, SimulatedDisk, inout SeededRandom) -> Outcome
    ) async throws {
        print("KEEL_SEED=\(seed)")
        var done = 0
        var found = 0
        var program = seed
        while done < total {
            program &+= 1
            var random = SeededRandom(seed: program)
            let script = try await CrashScript(
                seed: program,
                count: 60,
                limit: program % 2 == 0 ? 1 << 20 : 16 << 10,
                isSealed: program % 5 == 0
            )
            var disk = SimulatedDisk()
            var model = KeyModel()
            var position = 0
            let steps = script.files.steps
            for count in 0...steps.count where done < total {
                if count > 0 { disk.repeat(steps[count - 1]) }
                while position < script.operations.count,
                    script.operations[position].lastStep <= count
                {
                    model.apply(script.operations[position].effect)
                    position += 1
                }
                var after = model
                if position < script.operations.count {
                    after.apply(script.operations[position].effect)
                }
                let outcome = outcome(script, count, disk, &random)
                let files = SimulatedFileSystem(outcome.disk)
                let tier = try script.open(files)
                for key in CrashScript.keys {
                    let value = try await tier.value(key)
                    if value != nil { found += 1 }
                    // Evaluated outside `#expect`, so that a failure does not print the whole disk.
                    let isAllowed = outcome.isAllowed(value, model, after, key)
                    #expect(isAllowed, "\(what) of program \(program) at step \(count): \(key)")
                }
                if done % 4 == 0 { try await goOn(with: tier, on: files, script) }
                done += 1
            }
        }
        // Otherwise a tier that forgets everything would pass.
        #expect(found > total / 4, "only \(found) values were there")
        print("\(done) times \(what): \(found) values there")
    }

    /// Checks that the folder remains usable: a new value is present after the next opening.
    private static func goOn(
        with tier: DiskCacheTier,
        on files: SimulatedFileSystem,
        _ script: CrashScript
    ) async throws {
        try await tier.set("after", [1, 2, 3])
        try await tier.remove(.keys([Array(CrashScript.keys[0].utf8)]))
        let left = try script.open(SimulatedFileSystem(files.disk))
        #expect(try await left.value("after") == [1, 2, 3])
        #expect(try await left.value(CrashScript.keys[0]) == nil)
        for key in CrashScript.keys.dropFirst() {
            let isSame = try await tier.value(key) == left.value(key)
            #expect(isSame)
        }
    }
}
