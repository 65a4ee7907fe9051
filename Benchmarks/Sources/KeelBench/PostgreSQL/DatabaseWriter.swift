#if PostgreSQL
import Foundation
import KeelStorage
import KeelStoragePostgreSQL
import Synchronization

/// A process that writes to a store as a server does for its clients.
///
/// Each write begins with the JSON of a request. The process prints a line when it is connected, writes from the first
/// line of its input to the end of the input, and then prints the number of writes and the microseconds of processor
/// time that they took.
struct DatabaseWriter: Sendable {
    static let command = "__postgresql-writer"
    /// The number of clients, each of which waits for its write.
    static let clientCount = 16

    private final class Progress: Sendable {
        let isOver = Atomic(false)
        let written = Atomic(0)
    }

    private let url: String
    private let count: Int

    init(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 2, let count = Int(words[1]), count > 0 else {
            throw UsageError(message: "not the work of a child: \(words)")
        }
        (url, self.count) = (words[0], count)
    }

    @concurrent
    func run() async throws {
        let client = StorageClient(try await PostgreSQLStorageAdapter(at: .url(url)))
        let progress = Progress()
        let requests = try (0..<min(count, 2_000)).map { _ in
            try JSONEncoder().encode(Place(Int.random(in: 0..<count)))
        }
        print("ready")
        fflush(nil)
        guard readLine() != nil else { return }
        let thread = Thread {
            while readLine() != nil {}
            progress.isOver.store(true, ordering: .relaxed)
        }
        thread.start()
        let before = Timing.processorTime()
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<Self.clientCount {
                group.addTask { @concurrent in
                    while !progress.isOver.load(ordering: .relaxed) {
                        let request = requests[Int.random(in: 0..<requests.count)]
                        var place = try JSONDecoder().decode(Place.self, from: request)
                        place.score = Int.random(in: 0..<1_000_000_000)
                        try await client.setDocument(DocumentPath("places", place.id), place)
                        progress.written.add(1, ordering: .relaxed)
                    }
                }
            }
        }
        print(progress.written.load(ordering: .relaxed), Int(Timing.processorTime() - before))
    }
}

/// Several ``DatabaseWriter`` processes, each of which runs for 2 of every 10 milliseconds.
///
/// Signals hold them, which needs no rights. It is harsher than a slower processor: a stopped process may hold the line
/// of commits.
final class HeldWriters: Sendable {
    private struct Child: Sendable {
        let process: Process
        let input: Pipe
        let output: Pipe
    }

    private static let share = 2_000
    private static let turns = 5
    private let children: [Child]

    /// Starts the processes, and waits until all are connected.
    init(_ count: Int, on pair: DatabasePair) throws {
        precondition(count <= Self.turns)
        children = try (0..<count).map { _ in
            let child = Child(process: Process(), input: Pipe(), output: Pipe())
            child.process.executableURL = URL(filePath: CommandLine.arguments[0])
            child.process.arguments = [DatabaseWriter.command, pair.url, "\(pair.count)"]
            child.process.standardInput = child.input
            child.process.standardOutput = child.output
            try child.process.run()
            return child
        }
        for child in children {
            let line = child.output.fileHandleForReading.availableData
            guard line == Data("ready\n".utf8) else {
                throw Flaw("A writing process did not connect to the database.")
            }
        }
    }

    deinit {
        for child in children where child.process.isRunning {
            kill(child.process.processIdentifier, SIGCONT)
            child.process.terminate()
        }
    }

    /// Lets the processes write for a while, and returns the writes of all per second.
    @concurrent
    func throughput(_ duration: Duration) async throws -> Double {
        let processes = children.map(\.process.processIdentifier)
        let isOver = Atomic(false)
        for process in processes { kill(process, SIGSTOP) }
        for child in children { try child.input.fileHandleForWriting.write(contentsOf: Data([10])) }
        let start = ContinuousClock.now
        let thread = Thread {
            var next = ContinuousClock.now
            while !isOver.load(ordering: .relaxed) {
                for turn in 0..<Self.turns {
                    if turn < processes.count { kill(processes[turn], SIGCONT) }
                    next += .microseconds(Self.share)
                    let left = next - ContinuousClock.now
                    if left > .zero { usleep(UInt32(left.microseconds)) } else { next = .now }
                    if turn < processes.count { kill(processes[turn], SIGSTOP) }
                }
            }
            for process in processes { kill(process, SIGCONT) }
        }
        thread.start()
        try await Task.sleep(for: duration)
        for child in children { try child.input.fileHandleForWriting.close() }
        let elapsed = start.duration(to: .now)
        isOver.store(true, ordering: .relaxed)
        var written = 0
        for child in children {
            let output = child.output.fileHandleForReading.readDataToEndOfFile()
            child.process.waitUntilExit()
            let words = String(decoding: output, as: UTF8.self).split(separator: " ")
            guard let count = words.first.flatMap({ Int($0) }), count > 0 else {
                throw Flaw("A writing process ended with \(child.process.terminationStatus).")
            }
            written += count
        }
        return Double(written) / (elapsed / .seconds(1))
    }
}
#endif
