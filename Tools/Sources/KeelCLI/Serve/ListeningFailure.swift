import Foundation
import KeelToolSupport
import NIOCore

/// The failure to listen on an address.
enum ListeningFailure {
    /// Runs a server.
    ///
    /// - Throws: `ToolError` for a port in use or without permission, and for an address of another machine; otherwise
    ///   the error of the body.
    static func explained(
        host: String = "127.0.0.1",
        port: Int,
        _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch let error as IOError {
            switch error.errnoCode {
            case EADDRINUSE:
                throw ToolError(
                    "the port \(port) is in use",
                    advice: "Choose another one with --port, 0 for a free one, or end the program "
                        + "that has it."
                )
            case EACCES:
                throw ToolError(
                    "this user may not listen on the port \(port)",
                    advice: "Choose a port from 1024 with --port, and forward the other one to it."
                )
            case EADDRNOTAVAIL:
                throw ToolError(
                    "\(host) is not an address of this machine",
                    advice: "Give one that it has with --host; 0.0.0.0 and :: are all of them."
                )
            default: throw error
            }
        }
    }
}
