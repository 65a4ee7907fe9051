#if os(Linux) || os(macOS)
import Foundation
import KeelFiles
import KeelTestKit
import KeelTestSupport
import Testing

/// A test that crashes after every change of random programs, and checks the reopened store.
///
/// `KEEL_FILES_CRASHES` sets the number of crashes, `KEEL_SEED` repeats a run.
@Suite("Crash recovery of a local store", .timeLimit(.minutes(30)))
struct CrashPointTests {
    private static let crashCount = TestLength.count("KEEL_FILES_CRASHES", 400, thorough: 2000)
    private static let seed = SeededRandom.chosenSeed()

    enum Crash: String, CaseIterable { case kill, powerFailure }

    @Test(
        "After a crash at any change, acknowledged files are kept and the current call is atomic",
        arguments: Crash.allCases
    )
    func crashes(_ crash: Crash) async throws {
        let total = Self.crashCount / 2
        let (flaws, found) = try await Self.crash(crash, total, durability: .power)
        #expect(flaws.isEmpty, "\(flaws.prefix(3))")
        // Without this, a store that forgets everything would pass.
        #expect(found > total / 4, "only \(found) files were there")
    }

    @Test("The simulation detects a store that does not wait for the disk")
    func withoutWaiting() async throws {
        let kills = try await Self.crash(.kill, Self.crashCount / 8, durability: .process)
        #expect(kills.flaws.isEmpty, "\(kills.flaws.prefix(3))")
        let powers = try await Self.crash(.powerFailure, Self.crashCount / 8, durability: .process)
        #expect(powers.flaws.count > Self.crashCount / 100)
    }

    /// - Returns: The violations, and the number of files found.
    private static func crash(
        _ crash: Crash,
        _ total: Int,
        durability: LocalFileStoreAdapter.Configuration.Durability
    ) async throws -> (flaws: [String], found: Int) {
        print("KEEL_SEED=\(seed)")
        var flaws: [String] = []
        var done = 0
        var found = 0
        var program = seed
        while done < total {
            program &+= 1
            var random = SeededRandom(seed: program)
            let script = try await FolderScript(seed: program, calls: 40, durability: durability)
            #expect(script.changes > 10)
            for count in 0...script.replay.count where done < total {
                let contents =
                    switch crash {
                    case .kill: script.replay.contents(afterKillAt: count, using: &random)
                    case .powerFailure:
                        script.replay.contents(afterPowerFailureAt: count, using: &random)
                    }
                let place = "\(crash.rawValue) of program \(program) at change \(count)"
                do {
                    let outcome = try await look(contents, script.moments(around: count), done)
                    found += outcome.count
                    if let flaw = outcome.flaw { flaws.append("\(place): \(flaw)") }
                } catch {
                    flaws.append("\(place): \(error)")
                }
                done += 1
            }
        }
        print("\(done) times \(crash.rawValue): \(found) files there, \(flaws.count) flaws")
        return (flaws, found)
    }

    /// Opens the remains of a crash.
    private static func look(
        _ contents: FolderReplay.Contents,
        _ moments: (before: FolderScript.Moment, after: FolderScript.Moment),
        _ number: Int
    ) async throws -> (count: Int, flaw: String?) {
        let scratch = try TemporaryFolder()
        try contents.write(to: scratch.path)
        // Waiting for the disk proves nothing here.
        var configuration = LocalFileStoreAdapter.Configuration()
        configuration.durability = .process
        let files = FileStore(
            try LocalFileStoreAdapter(folder: scratch.path, configuration: configuration)
        )
        let found = try await FolderScript.found(files)
        let (before, after) = moments
        var flaw: String?
        if found.files != before.files, found.files != after.files {
            flaw = "\(describe(found)) and not \(describe(before)) or \(describe(after))"
        }
        for (path, version) in before.versions
        where after.versions[path] == version && after.moved != path {
            if found.versions[path] != version { flaw = "“\(path)” has another version" }
        }
        let news = scratch.path + "/.keel-files/new"
        if try !FileManager.default.contentsOfDirectory(atPath: news).isEmpty {
            flaw = "an unfinished file was not removed"
        }
        if number.isMultiple(of: 8) {
            // The store still works: a new file is added to the others.
            try await files.write(Data("x".utf8), to: "next/one")
            let listed = try await files.list().files.map(\.path)
            if Set(listed) != Set(found.files.keys).union(["next/one"]) {
                flaw = "a new file made another change"
            }
        }
        return (found.files.count, flaw)
    }

    private static func describe(_ moment: FolderScript.Moment) -> String {
        moment.files.sorted { $0.key.string < $1.key.string }
            .map { "\($0.key): \($0.value.bytes.count) × \($0.value.bytes.first ?? 0)" }
            .joined(separator: ", ")
    }
}
#endif
