#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import KeelTestSupport
import Testing

/// A process of `Crowd` that prints to a file: a pipe would be inherited by processes started meanwhile.
private final class CrowdMember {
    let name: String
    private let output: URL
    private let process = Process()

    init(_ name: String, file: URL, seed: UInt64) throws {
        self.name = name
        output = file.deletingLastPathComponent().appending(path: "\(name).output")
        try Data().write(to: output)
        process.executableURL = try CrashTrial.program("KeelStorageCrashWriter")
        process.arguments = [file.path, "crowd", name, String(seed)]
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// Returns the number of the last acknowledged batch.
    func last() throws -> Int {
        let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        return text.split(separator: "\n").last.flatMap { Int($0) } ?? 0
    }

    /// Kills the process, and returns whether it was still running.
    func kill() -> Bool {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
    }
}

/// A listener whose snapshots are each compared with their steps.
private struct CrowdListener {
    let query: DocumentQuery
    private let adapter: SQLiteStorageAdapter
    private var snapshots: QuerySnapshots.Iterator
    private var shown: [Document] = []

    init(_ adapter: SQLiteStorageAdapter, _ query: DocumentQuery) {
        (self.adapter, self.query) = (adapter, query)
        snapshots = StorageClient(adapter).listen(to: query).makeAsyncIterator()
    }

    /// Takes snapshots until they agree with a read.
    ///
    /// There are no concurrent writes. A listener that never agrees hangs until the suite's time limit.
    mutating func follow(_ what: Comment) async throws {
        let expected = try await adapter.found(query).documents
        while shown != expected {
            let snapshot = try #require(try await snapshots.next(), what)
            for change in snapshot.changes {
                switch change.kind {
                case .added(let index): shown.insert(change.document, at: index)
                case .removed(let index): shown.remove(at: index)
                case .modified(let old, let new):
                    shown.remove(at: old)
                    shown.insert(change.document, at: new)
                }
            }
            #expect(shown == snapshot.documents, what)
            #expect(snapshot.failures.isEmpty, what)
        }
    }
}

/// Several processes with several adapters each on one file, which are killed at random.
@Suite("Many processes on one file", .serialized, .timeLimit(.minutes(30)))
struct CrowdTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Runs a program that opens the store, counts the documents of `a`, and closes it.
    private func visit() async throws -> Int? {
        let program = try CrashTrial.program("KeelStorageCrashWriter")
        let run = try await ProgramRun(program, [folder.file().path, "visit"])
        #expect(run.exitCode == 0, "\(run.errors)")
        return Int(run.text.trimmingCharacters(in: .newlines))
    }

    @Test("a process that comes and goes does not affect a process with several adapters")
    func visitor() async throws {
        let first = try folder.adapter()
        try await first.set("a/0", [:])
        let second = try folder.adapter()
        // The visitor must not believe that it has the only connection, and remove the log.
        #expect(try await visit() == 1)
        for number in 1...50 { try await first.set("a/\(number)", [:]) }
        #expect(try await visit() == 51)
        try second.close()
        let third = try folder.adapter()
        #expect(try await visit() == 51)
        for number in 51...99 { try await third.set("a/\(number)", [:]) }
        try first.close()
        #expect(try await visit() == 100)
        #expect(try await third.checkIntegrity().isSound)
    }

    /// Set `KEEL_CROWD_ROUNDS` for a longer run, `KEEL_SEED` to repeat one.
    private static var roundCount: Int { TestLength.count("KEEL_CROWD_ROUNDS", 8, thorough: 40) }

    /// The known state of each document: its revision, or its removal.
    private typealias Fold = [DocumentPath: Revision]

    @Test("acknowledged writes are stored once, and listeners see the store's state")
    func rounds() async throws {
        let seed = SeededRandom.chosenSeed()
        print("KEEL_SEED=\(seed) KEEL_CROWD_ROUNDS=\(Self.roundCount)")
        var random = SeededRandom(seed: seed)
        let listener = try folder.adapter()
        let all = DocumentQuery("crowd")
        // On two adapters, with and without limits, by ids and by values.
        var listeners = try [listener, folder.adapter()].flatMap { adapter in
            [
                CrowdListener(adapter, all),
                CrowdListener(adapter, all.order(by: "n", .descending).limit(to: 3)),
                CrowdListener(adapter, all.where(.equal("by", "p1"))),
            ]
        }
        var fold = Fold()
        var cursor: ChangeCursor?
        var acknowledgedCount = 0
        var counters: [String: ClosedRange<Int64>] = [:]
        for round in 0..<Self.roundCount {
            let names = (0..<Int.random(in: 2...3, using: &random)).map { "p\($0)" }
            let lives = names.map { name in
                (
                    name, UInt64.random(in: 0 ... .max, using: &random),
                    Int.random(in: 1...30, using: &random)
                )
            }
            let crowd = try lives.map { name, seed, _ in
                try CrowdMember(name, file: folder.file(), seed: seed)
            }
            for (member, (_, _, delay)) in zip(crowd, lives.sorted { $0.2 < $1.2 }) {
                try await waitUntil { try member.last() > 0 || !member.isRunning }
                // Real time, because these are real processes and the moment must be arbitrary.
                try await Task.sleep(for: .milliseconds(delay))
                #expect(member.kill(), "round \(round): \(member.name) ended by itself")
            }
            for member in crowd {
                let last = try member.last()
                acknowledgedCount += last
                // The last commit may have succeeded without being printed.
                let known = counters[member.name] ?? 0...0
                let low = known.lowerBound + Int64(last)
                counters[member.name] = low...(known.upperBound + Int64(last) + 1)
            }
            for (name, expected) in counters {
                let count = try await listener.document("crowd/\(name)")?["n"]?.integerValue ?? 0
                #expect(expected.contains(count), "round \(round): \(name) has \(count)")
                counters[name] = count...count
            }
            cursor = try await follow(listener, after: cursor, into: &fold)
            #expect(try await fold == state(of: listener), "round \(round)")
            for index in listeners.indices {
                try await listeners[index].follow("round \(round), listener \(index)")
            }
            let pairs = try await listener.found(DocumentQuery("pairs")).documents
            for name in names {
                let pair = pairs.filter { $0.id.hasPrefix(name) }.map { $0["n"] }
                #expect(Set(pair).count <= 1, "round \(round): half a transaction of \(name)")
            }
            if round % 10 == 0 || round == Self.roundCount - 1 {
                #expect(try await listener.checkIntegrity().isSound, "round \(round)")
                let fresh = try folder.adapter()
                #expect(try await state(of: fresh) == state(of: listener), "round \(round)")
            }
        }
        #expect(acknowledgedCount > Self.roundCount)
        print("\(Self.roundCount) rounds, \(acknowledgedCount) acknowledged batches")
    }

    /// Folds the changes after a cursor, starting with a copy if the log no longer reaches the cursor.
    private func follow(
        _ adapter: SQLiteStorageAdapter,
        after cursor: ChangeCursor?,
        into fold: inout Fold
    ) async throws -> ChangeCursor {
        var found: (changes: [ChangePage.Change], next: ChangeCursor)
        do {
            found = try await adapter.allChanges(after: cursor)
            if cursor == nil { fold = [:] }
        } catch let error as StorageError {
            guard error.code == .cursorExpired else { throw error }
            fold = [:]
            found = try await adapter.allChanges()
        }
        for change in found.changes {
            switch change {
            case .current(let document): fold[document.path] = document.revision
            case .removed(let path, _, _): fold[path] = nil
            case .leftScope, .unreadable: break
            }
        }
        return found.next
    }

    private func state(of adapter: SQLiteStorageAdapter) async throws -> Fold {
        let documents =
            try await adapter.found(DocumentQuery("crowd")).documents
            + adapter.found(DocumentQuery("pairs")).documents
        return Fold(uniqueKeysWithValues: documents.map { ($0.path, $0.revision) })
    }
}
#endif
