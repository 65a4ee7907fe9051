#if os(Linux) || os(macOS)
package import Foundation

/// A `keel serve` of the build under test, in a process of its own.
package struct ServedProcess {
    private let process: KeelProcess
    /// The address of the server.
    package let address: URL

    package var port: Int { address.port ?? 0 }

    /// Starts a server on a file and waits until it prints its address.
    package init(_ file: String, port: Int, _ more: [String] = []) throws {
        try self.init(storage: "sqlite:\(file)", port: port, more)
    }

    /// Starts a server on a storage and waits until it prints its address.
    package init(storage: String, port: Int, _ more: [String] = []) throws {
        let arguments = [
            "serve", "--storage", storage, "--port", "\(port)", "--log-level", "critical",
        ]
        process = try KeelProcess(arguments + more)
        guard let address = URL(string: process.nextLine()), address.port != nil else {
            process.kill()
            throw CocoaError(.executableLoad)
        }
        self.address = address
    }

    /// The peak memory in bytes; nil if the system does not report it.
    package var peakMemory: Int? { process.peakMemory }

    /// Ends the server with SIGTERM and returns its exit code.
    package func terminate() -> Int32 {
        process.terminate()
        return process.wait().code
    }

    /// Kills the server with SIGKILL.
    package func kill() {
        process.kill()
        _ = process.wait()
    }
}
#endif
