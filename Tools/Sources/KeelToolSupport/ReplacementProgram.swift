internal import Foundation

/// A program in the place of this process.
package enum ReplacementProgram {
    /// Replaces this process with a program, which receives its signals and ends with its own status.
    ///
    /// - Parameter command: The program and its arguments; a name without `/` is searched for on the `PATH`.
    /// - Returns: The reason why the program cannot be started; otherwise the call does not return.
    package static func become(_ command: [String]) -> String {
        // Threads of the runtime block signals, and a program inherits what its thread blocks.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        let arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        _ = execvp(command[0], arguments)
        let reason = errno
        for argument in arguments { free(argument) }
        return String(cString: strerror(reason))
    }
}
