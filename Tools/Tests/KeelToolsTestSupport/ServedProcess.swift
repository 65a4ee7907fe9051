#if os(Linux) || os(macOS)
package import Foundation

/// A `keel serve` of the build under test, in a process of its own.
package struct ServedProcess {
    private let process: KeelProcess
    /// Where it listens.
    package let address: URL

    package var port: Int { address.port ?? 0 }

    /// Starts a server and waits until it says where it listens.
    package init(_ file: String, port: Int, _ more: [String] = []) throws {
        let arguments = [
            "serve", "--storage", "sqlite:\(file)", "--port", "\(port)", "--log-level", "critical",
        ]
        process = try KeelProcess(arguments + more)
        guard let address = URL(string: process.nextLine()), address.port != nil else {
            process.kill()
            throw CocoaError(.executableLoad)
        }
        self.address = address
    }

    /// The most memory that it has had so far, in bytes; nil where the system does not say.
    package var peakMemory: Int? { process.peakMemory }

    /// Ends it as the system does: it has no say in it.
    package func kill() {
        process.kill()
        _ = process.wait()
    }
}
#endif
