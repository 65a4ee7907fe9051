import Foundation
import KeelStorage
import KeelStorageSQLite

/// Kills writers of one store with SIGKILL at random moments, and checks the store after each.
///
/// Everything that the writer printed must be present; its current batch must be present as a whole or absent. This
/// tests the death of a process, not a power failure: the system keeps what the process has written.
struct KillTrials {
    private var count = 10_000
    private var seed = UInt64.random(in: 1...9_999_999_999)
    private var folder = FileManager.default.temporaryDirectory

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard let value = rest.popFirst() else { throw Failure("\(argument) needs a value") }
            switch (argument, Int(value)) {
            case ("--trials", let number?) where number > 0: count = number
            case ("--seed", let number?) where number > 0: seed = UInt64(number)
            case ("--folder", _): folder = URL(fileURLWithPath: value, isDirectory: true)
            default: throw Failure("unknown option \(argument) \(value)")
            }
        }
    }

    /// - Returns: Whether every trial succeeded.
    func run() async throws -> Bool {
        let own = folder.appending(path: "keel-soak-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        let file = own.appending(path: "store.sqlite").path(percentEncoded: false)
        print("storage: \(count) writers to kill, seed \(seed), store \(file)")
        var random = Generator(state: seed)
        var figures = Figures()
        let start = ContinuousClock.now
        for trial in 1...count {
            // Some are killed while they open the store, most between their first commit and some later one.
            let waits = random.next() % 8 != 0
            let delay = Duration.microseconds(Int(200 + random.next() % 20_000))
            let printed = try await killedWriter(on: file, from: figures.last + 1, waits, delay)
            do {
                try await check(file, printed, trial, &figures)
            } catch {
                print("trial \(trial), seed \(seed): \(error)\nThe store is kept: \(file)")
                return false
            }
            if trial % 1_000 == 0 { print("  \(trial): \(figures)") }
            fflush(nil)
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        print(
            "storage: \(count) kills, \(figures) in \(Int(seconds)) s; nothing lost, nothing half-written"
        )
        try FileManager.default.removeItem(at: own)
        return true
    }

    private struct Figures: CustomStringConvertible {
        /// The number of the last batch in the store.
        var last: Int64 = 0
        var acknowledged = 0
        /// The number of batches that were present but not yet printed.
        var unprinted = 0
        var integrityChecks = 0

        var description: String {
            "\(acknowledged) acknowledged batches, \(unprinted) finished and not yet acknowledged, "
                + "\(integrityChecks) full integrity checks"
        }
    }

    // MARK: Killing

    private func killedWriter(
        on file: String,
        from first: Int64,
        _ waitsForCommit: Bool,
        _ delay: Duration
    ) async throws -> [Int64] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = [CrashWriter.command, file, String(first)]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let handle = output.fileHandleForReading
        var text = Data()
        if waitsForCommit { text += handle.availableData }
        try await Task.sleep(for: delay)
        kill(process.processIdentifier, SIGKILL)
        text += handle.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal else {
            throw Failure("the writer ended by itself with \(process.terminationStatus)")
        }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { Int64($0) }
    }

    // MARK: Checking

    private func check(
        _ file: String,
        _ printed: [Int64],
        _ trial: Int,
        _ figures: inout Figures
    ) async throws {
        guard printed == Array(figures.last + 1..<figures.last + 1 + Int64(printed.count)) else {
            throw Failure("the writer printed \(printed)")
        }
        figures.acknowledged += printed.count
        // A writer may be killed before a file exists.
        guard FileManager.default.fileExists(atPath: file) else { return }
        let adapter = try CrashWriter.adapter(file)
        defer { try? adapter.close() }
        let last = try await lastBatch(in: StorageClient(adapter))
        let expected = printed.last ?? figures.last
        guard last == expected || last == expected + 1 else {
            throw Failure("batch \(expected) was acknowledged, the store ends with \(last)")
        }
        if last > expected { figures.unprinted += 1 }
        figures.last = last
        guard trial % 10 == 0 || trial == count else { return }
        let report = try await adapter.checkIntegrity()
        guard report.isSound else { throw Failure("damage: \(report.problems)") }
        figures.integrityChecks += 1
    }

    /// Returns the number of the last batch, after checking that it is complete.
    private func lastBatch(in client: StorageClient) async throws -> Int64 {
        let shared = try await client.findDocuments(CrashWriter.shared)
        let present = shared.compactMap(\.self)
        guard let first = present.first, let number = first["number"]?.integerValue else {
            guard present.isEmpty else { throw Failure("a document without its number") }
            return 0
        }
        guard present.count == shared.count,
            present.allSatisfy({ $0.body == first.body && $0.updateTime == first.updateTime })
        else { throw Failure("half of batch \(number)") }
        let own = try await client.queryDocuments(DocumentQuery("numbers").order(by: "number"))
        let kept = max(1, number - CrashWriter.kept + 1)...number
        guard own.compactMap({ $0["number"]?.integerValue }) == Array(kept) else {
            throw Failure("half of batch \(number): its own document or the removal")
        }
        return number
    }

    /// A generator of random numbers with a seed (SplitMix64).
    private struct Generator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
