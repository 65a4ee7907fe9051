import KeelDocumentTools
import Logging

/// The messages of a server about indexes that its stores build in the background.
enum IndexLog {
    /// Logs the progress every five seconds, until the indexes are complete.
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
