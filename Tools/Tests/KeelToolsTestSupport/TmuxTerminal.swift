#if os(Linux) || os(macOS)
package import Foundation

/// A real terminal in tmux that runs the command.
package final class TmuxTerminal {
    /// A problem that ends a test.
    package struct Problem: Error, CustomStringConvertible { package let description: String }

    private let folder: URL
    private let program: URL

    /// Starts the command in a terminal; with `input`, a file is standard input instead of the terminal.
    ///
    /// - Throws: ``Problem`` if tmux is missing or cannot be started.
    package init(
        _ arguments: [String],
        input: URL? = nil,
        columns: Int = 80,
        rows: Int = 24,
        environment: [String: String] = [:]
    ) throws {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let found = folders.map { URL(filePath: "\($0)/tmux") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let found else {
            throw Problem(description: "tmux is missing: Scripts/setup.sh test installs it.")
        }
        program = found
        // A short path, because socket paths are limited to about 100 bytes.
        folder = URL(filePath: "/tmp/keel-tmux-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let settings = """
            set -g remain-on-exit on
            set -g remain-on-exit-format ""
            set -g status off
            set -s escape-time 0
            set -g default-terminal screen

            """
        try Data(settings.utf8).write(to: folder.appending(path: "settings"))
        // The shell records the exit code, which tmux sometimes misses, and ignores Control-C. A second one records the
        // number of the process before it becomes the command.
        let script = """
            trap : INT
            if [ -n "$1" ]; then exec < "$1"; fi
            code="$2"
            shift 2
            /bin/sh -c 'echo $$ > "$0.process"; exec "$@"' "$code" "$@"
            echo $? > "$code.new" && mv "$code.new" "$code"
            """
        let command =
            ["/bin/sh", "-c", script, "sh", input?.path ?? "", code.path]
            + [try KeelProcess.program().path] + arguments
        let added = environment.merging(["LC_ALL": "C.UTF-8"]) { own, _ in own }
        let session =
            ["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)"]
            + added.flatMap { ["-e", "\($0)=\($1)"] } + command
        try start(options + session)
    }

    deinit {
        _ = try? tmux(["kill-server"])
        try? FileManager.default.removeItem(at: folder)
    }

    package func type(_ text: String) throws { try tmux(["send-keys", "-l", "--", text]) }

    /// Presses keys by their names in tmux, such as `Enter`, `Tab`, `C-c` and `Up`.
    package func press(_ keys: String...) throws { try tmux(["send-keys"] + keys) }

    /// Sends a signal to the command, which has to run.
    package func send(_ signal: Int32) throws {
        let text = try String(contentsOfFile: code.path + ".process", encoding: .utf8)
        let number = pid_t(text.trimmingCharacters(in: .newlines))
        guard let number, kill(number, signal) == 0 else {
            throw Problem(description: "the signal \(signal) cannot be sent to “\(text)”")
        }
    }

    package func resize(columns: Int, rows: Int = 24) throws {
        try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// Returns the lines on the screen without trailing spaces.
    ///
    /// - Parameter hasColors: Whether the lines contain the sequences for colors.
    /// - Returns: The lines.
    /// - Throws: ``Problem`` if tmux fails.
    package func screen(hasColors: Bool = false) throws -> [String] {
        let text = try tmux(["capture-pane", "-p"] + (hasColors ? ["-e"] : []))
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// Waits until the screen meets a condition, and returns its lines.
    ///
    /// - Throws: ``Problem`` with the screen, if the condition is not met within the limit.
    @discardableResult
    package func wait(
        for what: String,
        within limit: Duration = .seconds(60),
        _ condition: ([String]) throws -> Bool
    ) async throws -> [String] {
        let end = ContinuousClock.now + limit
        while true {
            let lines = try screen()
            if try condition(lines) { return lines }
            guard ContinuousClock.now < end else {
                let picture = lines.joined(separator: "\n")
                throw Problem(description: "waited in vain for \(what):\n\(picture)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until a text is on the screen.
    @discardableResult
    package func wait(for text: String) async throws -> [String] {
        try await wait(for: "“\(text)”") { $0.contains { $0.contains(text) } }
    }

    /// Waits until the last nonempty line is the given one.
    @discardableResult
    package func wait(forLast line: String) async throws -> [String] {
        try await wait(for: "“\(line)” at the end") { $0.last { !$0.isEmpty } == line }
    }

    /// Waits for the end of the command; returns the exit code, or 128 and the number of the signal that ended it.
    package func exitCode() async throws -> Int {
        try await wait(for: "the end of the command") { _ in
            // The command's output is on the screen once its terminal is closed.
            guard FileManager.default.fileExists(atPath: code.path) else { return false }
            return try tmux(["display-message", "-p", "#{pane_dead}"]).hasPrefix("1")
        }
        let text = try String(contentsOf: code, encoding: .utf8)
        guard let number = Int(text.trimmingCharacters(in: .newlines)) else {
            throw Problem(description: "the exit code of the command is “\(text)”")
        }
        return number
    }

    private var code: URL { folder.appending(path: "code") }

    private var options: [String] {
        [
            "-u", "-S", folder.appending(path: "socket").path, "-f",
            folder.appending(path: "settings").path,
        ]
    }

    private var variables: [String: String] {
        var variables = ProcessInfo.processInfo.environment
        variables["TMUX"] = nil
        variables["LC_ALL"] = "C.UTF-8"
        return variables
    }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = program
        process.arguments = options + arguments
        process.environment = variables
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Problem(description: "tmux \(arguments.first ?? ""): \(text)")
        }
        return text
    }

    /// Starts the server with the default handling of signals.
    ///
    /// `Process` cannot be used: its children inherit the blocked signals of a thread, including Control-C, and it
    /// waits for servers that its children leave behind.
    private func start(_ arguments: [String]) throws {
        #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
        var actions: posix_spawn_file_actions_t?
        #else
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawnattr_destroy(&attributes)
            posix_spawn_file_actions_destroy(&actions)
        }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        )
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var words = ([program.path] + arguments).map { strdup($0) } + [nil]
        var environment = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + environment { free(text) } }
        var child = pid_t()
        let code = posix_spawn(&child, program.path, &actions, &attributes, &words, &environment)
        var status: Int32 = 0
        guard code == 0, waitpid(child, &status, 0) == child, status == 0 else {
            throw Problem(description: "tmux cannot be started: error \(code), status \(status)")
        }
    }
}
#endif
