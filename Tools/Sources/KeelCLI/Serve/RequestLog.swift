import HTTPTypes
import KeelDocumentTools
import KeelHTTP
import KeelServing
import Logging

/// A handler that writes a record for each request.
///
/// The record does not name documents, because ids are often personal data.
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

/// The messages of a server about indexes that its stores build in the background.
enum IndexLog {
    /// Logs progress every five seconds, until the indexes are complete or there was none for a minute.
    static func run(_ stores: [any IndexedStore], _ logger: Logger) async {
        await withTaskGroup(of: Void.self) { group in
            for store in stores { group.addTask { await run(store, logger) } }
        }
    }

    private static func run(_ store: any IndexedStore, _ logger: Logger) async {
        let left = await store.followIndexes(every: .seconds(5), endingAfter: 12) { progress in
            logger.info(
                "Indexes are being built; queries scan meanwhile",
                metadata: [
                    "indexes": "\(progress.names.joined(separator: ", "))",
                    "percent": "\(Int(progress.share * 100))",
                ]
            )
        }
        guard let left else { return }
        // A step of the build has failed, for example because the server could not be reached.
        logger.warning(
            """
            Indexes stay incomplete, so that queries scan; start the server again, or build them with \
            keel documents indexes import
            """,
            metadata: ["indexes": "\(left.names.joined(separator: ", "))"]
        )
    }
}
