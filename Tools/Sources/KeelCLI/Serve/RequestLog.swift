import HTTPTypes
import KeelHTTP
import KeelServing
import Logging

/// A handler that writes a record for each request.
///
/// The record names the operation but not the document, because ids are often personal data.
struct RequestLog: ServingHandler {
    private let handler: any ServingHandler
    private let logger: Logger
    private let clock = ContinuousClock()

    init(_ handler: any ServingHandler, _ logger: Logger) {
        self.handler = handler
        self.logger = logger
    }

    func respond(to call: HTTPCall) async -> HTTPReply {
        let start = clock.now
        let reply = await handler.respond(to: call)
        let status = reply.head.status.code
        logger.log(
            level: status >= 500 ? .error : .info,
            "Request",
            metadata: [
                "operation": "\(ServedOperation(call.head).name)",
                "status": "\(status)",
                "milliseconds": "\(Self.milliseconds(start.duration(to: clock.now)))",
            ]
        )
        return reply
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) * 1000 + (Double(attoseconds) / 1e13).rounded() / 100
    }
}
