import Foundation
import KeelToolSupport
import NIOCore

/// The error of a server whose port another program uses.
enum PortInUse {
    /// Runs a server, and says what to do where its port is taken.
    ///
    /// - Throws: `ToolError` for a taken port, or what the body throws.
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
