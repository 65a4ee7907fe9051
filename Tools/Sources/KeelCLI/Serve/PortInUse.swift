import Foundation
import KeelToolSupport
import NIOCore

/// The error of a server whose port another program uses.
enum PortInUse {
    /// Runs a server, and advises what to do if its port is in use.
    ///
    /// - Throws: `ToolError` for a port in use, or the error of the body.
    static func explained(port: Int, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as IOError {
            guard error.errnoCode == EADDRINUSE else { throw error }
            throw ToolError(
                "the port \(port) is in use",
                advice: "Choose another one with --port, 0 for a free one, or end the program that "
                    + "has it."
            )
        }
    }
}
