import ArgumentParser
import Foundation
import KeelDocumentTools
import KeelTerminal
import KeelToolSupport
import Synchronization

struct ShellCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Works with a store line by line.",
        discussion: """
            The commands are those of keel documents, with paths from where cd has led: help shows \
            them. Tab completes commands, paths, options and fields; Control-R searches earlier \
            lines, which are kept in ~/.local/state/keel. Control-C abandons the line or ends \
            the command that runs, and Control-D leaves.

            Lines that are not typed at a terminal are a script, which ends with the first line that \
            fails:

            echo 'count restaurants' | keel documents shell --storage store.sqlite
            """
    )

    @OptionGroup var store: StoreOptions

    func run() async throws {
        let output = CommandOutput(isJSON: store.json)
        let shell = DocumentShell(store.storage, store.database, output: output)
        let isInteractive = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
        let running = RunningLine(isInteractive: isInteractive)
        if isInteractive {
            try await Self.converse(shell, running, output)
        } else {
            try await Self.runScript(shell, running, output)
        }
    }

    // MARK: A script

    private static func runScript(
        _ shell: DocumentShell,
        _ running: RunningLine,
        _ output: CommandOutput
    ) async throws {
        var shell = shell
        var (number, result) = (0, ToolExit.done)
        while let line = readLine() {
            number += 1
            switch await running.run(line, in: &shell) {
            case .leave: return
            case .code(ToolExit.done.rawValue): break
            case .code(ToolExit.findings.rawValue): result = .findings
            case .code:
                output.failure(
                    ToolError(
                        "line \(number) failed: \(TextWidth.truncated(line, to: 80))",
                        advice: "Correct it and run the script again; the lines before it are done."
                    )
                )
                throw ExitCode(ToolExit.failed.rawValue)
            }
        }
        guard result == .done else { throw ExitCode(result.rawValue) }
    }

    // MARK: A conversation

    private static func converse(
        _ shell: DocumentShell,
        _ running: RunningLine,
        _ output: CommandOutput
    ) async throws {
        var shell = shell
        let reader = LineReader(history: LineHistory(in: historyFile))
        running.onEnd(reader.restoration)
        let opened: OpenedStore?
        do {
            opened = try await shell.store.opened(for: .reading, shell.database)
        } catch {
            opened = nil
            // The shell starts nevertheless: the command set creates a missing store.
            output.failure(error)
        }
        let names = (opened?.adapter).map { StoreNames($0) }
        output.message("\(shell.store): help shows the commands, Control-D leaves.")
        var remarked = false
        reading: while true {
            if let problem = reader.history.problem, !remarked {
                output.message("Lines are not kept: \(problem)")
                remarked = true
            }
            let completer = ShellCompleter(names: names, place: shell.place)
            let place = TextWidth.harmless(shell.place.description)
            let outcome = await reader.line(prompt: "\(place)> ") { before in
                await Deadline.value(within: .seconds(2)) {
                    await completer.completion(before)
                } ?? LineCompletion.none
            }
            switch outcome {
            case .end: break reading
            case .abandoned: continue
            case .line(let line):
                if await running.run(line, in: &shell) == .leave { break reading }
            }
        }
        await opened?.close()
    }

    /// The file of the history; nil without a home folder.
    private static var historyFile: URL? {
        let environment = ProcessInfo.processInfo.environment
        let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let folder = state ?? environment["HOME"].map { $0 + "/.local/state" }
        return folder.map { URL(filePath: $0).appending(path: "keel/documents-history") }
    }
}

/// The running line, which Control-C ends.
private final class RunningLine: Sendable {
    private let task = Mutex<Task<(DocumentShell, DocumentShell.Outcome), Never>?>(nil)
    private let restoration = Mutex<@Sendable () -> Void>({})
    private let watches = Mutex<[SignalWatch]>([])

    init(isInteractive: Bool) {
        watch(SIGINT) { running in
            let isIdle = running.task.withLock { task in
                task?.cancel()
                return task == nil
            }
            // While a line is typed, Control-C is a key; while a script waits for one, nothing else ends the wait.
            if isIdle, !isInteractive { exit(128 + SIGINT) }
        }
        for number in [SIGTERM, SIGHUP] {
            watch(number) { running in
                running.restoration.withLock { $0() }
                // The signal itself is blocked on this thread.
                exit(128 + number)
            }
        }
    }

    /// Sets the closure to call before a signal ends the process.
    func onEnd(_ body: @escaping @Sendable () -> Void) { restoration.withLock { $0 = body } }

    private func watch(_ number: Int32, _ body: @escaping @Sendable (RunningLine) -> Void) {
        let watch = SignalWatch(number) { [weak self] in self.map(body) }
        watches.withLock { $0.append(watch) }
    }

    /// Runs a line until it ends, or until Control-C.
    func run(_ line: String, in shell: inout DocumentShell) async -> DocumentShell.Outcome {
        let started = shell
        let task = Task {
            var shell = started
            let outcome = await shell.run(line)
            return (shell, outcome)
        }
        self.task.withLock { $0 = task }
        let (after, outcome) = await task.value
        self.task.withLock { $0 = nil }
        shell = after
        return outcome
    }
}

/// A time limit for optional work, such as completion.
private enum Deadline {
    /// Returns a value; nil if it takes too long, and its computation was canceled.
    static func value<Value: Sendable>(
        within limit: Duration,
        _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await withTaskGroup(of: Value?.self) { group in
            group.addTask { await body() }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
