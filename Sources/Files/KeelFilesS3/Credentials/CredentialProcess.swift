#if Crypto
internal import Dispatch
internal import KeelFiles

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

    /// Runs a command, without a shell.
    ///
    /// It gets the chain's environment, and this process's standard error.
    static func credentials(
        _ command: String,
        _ context: CredentialContext
    ) async throws(FileStoreError) -> ExpiringCredentials {
        #if os(macOS) || os(Linux)
        guard let words = words(of: command), !words.isEmpty else {
            throw FileStoreError(.invalidArgument, "A quote of credential_process is not closed.")
        }
        let variables = context.configuration.environment.map { "\($0)=\($1)" }
        let outcome: Result<[UInt8], FileStoreError> = await withCheckedContinuation {
            continuation in
            // A read of a pipe blocks, and must not hold up a thread of the tasks.
            DispatchQueue.global().async { continuation.resume(returning: run(words, variables)) }
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

    /// Splits a command at white space outside of quotes.
    ///
    /// A backslash keeps the next character, except in single quotes.
    ///
    /// - Returns: The words, or nil if a quote is not closed.
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
        _ variables: [String]
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
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while output.count <= CredentialContext.largestDocument {
            let count = read(ends[0], &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            output += buffer[..<count]
        }
        let isTooLong = output.count > CredentialContext.largestDocument
        if isTooLong { kill(child, SIGKILL) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0, !isTooLong else { return .failure(failure("“\(words[0])” failed")) }
        return .success(output)
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
#endif
