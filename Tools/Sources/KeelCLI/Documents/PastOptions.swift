import ArgumentParser
import Foundation
import KeelStorage
import KeelTelemetryTools

/// The option of commands that can read a past state.
struct PastOptions: ParsableArguments {
    @Option(
        name: .customLong("as-of"),
        help: ArgumentHelp(
            """
            Reads the store as it was at a time: 2026-11-22T09:00:00Z, 2026-11-22, or how long ago: \
            90s, 15m, 2h, 7d. The store has to keep its history (serve --history).
            """,
            valueName: "time"
        )
    )
    var asOf: String?

    func validate() throws { _ = try time }

    /// The time whose state is read; nil for the present.
    var time: Timestamp? {
        get throws {
            guard let asOf else { return nil }
            let now = Timestamp(Date()).microseconds
            guard let time = LogMoment.microseconds(asOf, now: now) else {
                throw ValidationError(
                    """
                    --as-of takes 2026-11-22T09:00:00Z, 2026-11-22, 90s, 15m, 2h or 7d, not \
                    “\(asOf)”.
                    """
                )
            }
            return Timestamp(microseconds: time)
        }
    }

    /// Returns a client for the state of that time.
    func client(_ adapter: any StorageAdapter) throws -> StorageClient {
        let client = StorageClient(adapter)
        guard let time = try time else { return client }
        return try client.asOf(time)
    }
}
