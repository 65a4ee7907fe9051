import Foundation
import Synchronization

/// A program that runs beside this one, and what it has said so far.
final class RunningProcess: Sendable {
    private let process = Process()
    private let output = Lines()
    private let errors = Lines()

    /// How the program was called, for the reader.
    let call: String

    var identifier: Int32 { process.processIdentifier }

    init(_ program: URL, _ arguments: [String]) throws {
        call = ([program.lastPathComponent] + arguments).joined(separator: " ")
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output.pipe
        process.standardError = errors.pipe
        try process.run()
    }

    /// What came of a program.
    struct Outcome: Sendable {
        let status: Int32
        let output: [String]
        let errors: [String]
    }

    /// Waits until the program has ended by itself.
    func outcome(within limit: Duration) async throws -> Outcome {
        try await wait(limit, for: "\(call) to end") {
            process.isRunning || !output.isAtEnd || !errors.isAtEnd ? nil : true
        }
        return Outcome(
            status: process.terminationStatus,
            output: output.all,
            errors: errors.all
        )
    }

    /// Waits for a line of output.
    func line(
        within limit: Duration,
        _ description: String,
        where isWanted: (String) -> Bool
    ) async throws -> String {
        try await wait(limit, for: "a line with \(description)") {
            if let line = output.all.first(where: isWanted) { return line }
            guard process.isRunning else {
                let last = (output.all + errors.all).last ?? "nothing"
                throw DemoFailure("\(call) has ended; it said: \(last)")
            }
            return nil
        }
    }

    /// Ends the program, if need be by force.
    func stop() async {
        guard process.isRunning else { return }
        process.terminate()
        for _ in 0..<200 where process.isRunning {
            try? await Task.sleep(for: .milliseconds(10))
        }
        if process.isRunning { kill(identifier, SIGKILL) }
    }

    @discardableResult
    private func wait<Value>(
        _ limit: Duration,
        for description: String,
        until value: () throws -> Value?
    ) async throws -> Value {
        let start = ContinuousClock.now
        while true {
            if let value = try value() { return value }
            guard start.duration(to: .now) < limit else {
                throw DemoFailure("waited \(limit.components.seconds) s for \(description)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// The lines that have come through a pipe.
private final class Lines: Sendable {
    private struct State {
        var bytes = Data()
        var isAtEnd = false
    }

    let pipe = Pipe()
    private let state: Mutex<State>

    init() {
        state = Mutex(State())
        pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let bytes = handle.availableData
            self?.state.withLock { state in
                state.bytes += bytes
                if bytes.isEmpty { state.isAtEnd = true }
            }
            if bytes.isEmpty { handle.readabilityHandler = nil }
        }
    }

    var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    /// All whole lines; at the end, also a last one without a line break.
    var all: [String] {
        let (bytes, isAtEnd) = state.withLock { ($0.bytes, $0.isAtEnd) }
        var lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        if !isAtEnd || lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map(String.init)
    }
}
