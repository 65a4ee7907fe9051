#if Crypto
internal import Dispatch
internal import KeelFiles
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// The command of a profile's `credential_process`, which writes credentials to its standard output.
enum CredentialProcess {
    private static let service = "credential_process"

    /// Runs a command without a shell, with the chain's environment and this process's standard error.
    ///
    /// It is killed when the task is canceled, and after the limit, whose default is that of AWS's SDK for Go.
    static func credentials(
        _ command: String,
        _ context: CredentialContext,
        limit: Duration = .seconds(60)
    ) async throws(FileStoreError) -> ExpiringCredentials {
        #if os(macOS) || os(Linux)
        guard let words = words(of: command), !words.isEmpty else {
            throw FileStoreError(.invalidArgument, "A quote of credential_process is not closed.")
        }
        let variables = context.configuration.environment.map { "\($0)=\($1)" }
        let process = RunningProcess()
        let outcome: Result<[UInt8], FileStoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A read of a pipe blocks, and must not hold up a thread of the tasks.
                DispatchQueue.global().async {
                    continuation.resume(returning: run(words, variables, process, limit))
                }
            }
        } onCancel: {
            process.stop()
        }
        let document = try CredentialContext.decode(
            CredentialDocument.self,
            try outcome.get(),
            of: service
        )
        guard document.version == 1 else {
            throw FileStoreError(
                .invalidReply,
                "The output of credential_process has no “Version” of 1."
            )
        }
        return try document.credentials(of: service)
        #else
        throw FileStoreError(.unsupported, "This system runs no credential_process.")
        #endif
    }

    /// Splits a command at white space outside of quotes; returns nil if a quote is not closed.
    ///
    /// A backslash keeps the next character, except in single quotes.
    static func words(of command: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = command.makeIterator()
        while let character = rest.next() {
            if let open = quote {
                if character == open {
                    quote = nil
                } else if character == "\\", open == "\"", let next = rest.next() {
                    if next != "\"", next != "\\" { word?.append("\\") }
                    word?.append(next)
                } else {
                    word?.append(character)
                }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == "\\", let next = rest.next() {
                word = (word ?? "") + String(next)
            } else if character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return quote == nil ? words : nil
    }

    #if os(macOS) || os(Linux)
    private static func run(
        _ words: [String],
        _ variables: [String],
        _ process: RunningProcess,
        _ limit: Duration
    ) -> Result<[UInt8], FileStoreError> {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return .failure(failure("cannot be started")) }
        // Another process that starts meanwhile must not keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #if os(macOS)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        receiveSignals(&attributes)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var child: pid_t = 0
        let started = posix_spawnp(
            &child,
            words[0],
            &actions,
            &attributes,
            &arguments,
            &environment
        )
        close(ends[1])
        defer { close(ends[0]) }
        guard started == 0 else { return .failure(failure("“\(words[0])” cannot be started")) }
        process.began(child)
        let end = ContinuousClock.now + limit
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        var isLate = false
        while output.count <= CredentialContext.largestDocument {
            var state = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            let found = poll(&state, 1, milliseconds(until: end))
            if found < 0, errno == EINTR { continue }
            isLate = found == 0
            guard found > 0 else { break }
            let count = read(ends[0], &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            output += buffer[..<count]
        }
        let isTooLong = output.count > CredentialContext.largestDocument
        if isTooLong || isLate { process.stop() }
        // It may have closed its output before its end.
        while !process.hasEnded() {
            if milliseconds(until: end) == 0 {
                isLate = true
                process.stop()
            }
            usleep(1_000)
        }
        guard !isLate else {
            return .failure(
                FileStoreError(
                    .timeout,
                    "The command of credential_process: “\(words[0])” took more than \(limit)."
                )
            )
        }
        guard process.succeeded, !isTooLong else {
            return .failure(failure("“\(words[0])” failed"))
        }
        return .success(output)
    }

    private static func milliseconds(until end: ContinuousClock.Instant) -> Int32 {
        let rest = max(.zero, end - ContinuousClock.now) / Duration.milliseconds(1)
        return Int32(min(rest.rounded(.up), Double(Int32.max)))
    }

    #if os(macOS)
    private typealias Attributes = posix_spawnattr_t?
    #else
    private typealias Attributes = posix_spawnattr_t
    #endif

    /// Lets signals such as that of Control-C reach the command.
    ///
    /// Otherwise it would inherit those that a thread of Dispatch blocks, and an ignored SIGPIPE from SwiftNIO.
    private static func receiveSignals(_ attributes: inout Attributes) {
        var (none, ignored) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigemptyset(&ignored)
        sigaddset(&ignored, SIGPIPE)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        let flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        posix_spawnattr_setflags(&attributes, flags)
    }

    private static func failure(_ reason: String) -> FileStoreError {
        FileStoreError(.credentialsMissing, "The command of credential_process: \(reason).")
    }
    #endif
}

#if os(macOS) || os(Linux)
/// A process that another thread may kill until it was waited for.
private final class RunningProcess: Sendable {
    private struct State {
        /// The number of the process; nil before its start and after its end.
        var number: pid_t?
        var isStopped = false
        var status: Int32 = 0
    }

    private let state = Mutex(State())

    var succeeded: Bool { state.withLock { $0.status == 0 } }

    /// Records the start of the process, and kills it if it was stopped before.
    func began(_ number: pid_t) {
        state.withLock { state in
            state.number = number
            if state.isStopped { kill(number, SIGKILL) }
        }
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            if let number = state.number { kill(number, SIGKILL) }
        }
    }

    func hasEnded() -> Bool {
        state.withLock { state in
            guard let number = state.number else { return true }
            var status: Int32 = 0
            let found = waitpid(number, &status, WNOHANG)
            guard found != 0 else { return false }
            if found < 0, errno == EINTR { return false }
            // The number may belong to another process from here on.
            state.number = nil
            state.status = status
            return true
        }
    }
}
#endif
#endif
