import ArgumentParser
import KeelStorage
import KeelTelemetryTools

/// The retention of the change log of a server's store.
struct RetentionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long every change is kept for clients that follow them: 12h, 7d; 30d if not given.",
            valueName: "age"
        )
    )
    var keepChanges: ServedAge?

    @Option(
        help: ArgumentHelp(
            """
            The maximum size of these changes in megabytes; the default, 64, holds about a million.
            """,
            valueName: "megabytes"
        )
    )
    var keepChangesSize: Int?

    @Option(
        help: ArgumentHelp(
            """
            How long the last change of each document is kept, removals included; 180d if not given. \
            A client that was away for longer reads all documents again.
            """,
            valueName: "age"
        )
    )
    var keepRemovals: ServedAge?

    @Option(
        help: ArgumentHelp(
            "The maximum size of the last changes of documents in megabytes; 256 if not given.",
            valueName: "megabytes"
        )
    )
    var keepRemovalsSize: Int?

    @Option(
        help: ArgumentHelp(
            "How long a repeated commit is recognized by its idempotency key; 7d if not given.",
            valueName: "age"
        )
    )
    var keepReceipts: ServedAge?

    var isGiven: Bool {
        keepChanges != nil || keepChangesSize != nil || keepRemovals != nil
            || keepRemovalsSize != nil || keepReceipts != nil
    }

    /// The retention, with the defaults of the adapters.
    var retention: LogRetention {
        var retention = LogRetention()
        if let keepChanges { retention.age = keepChanges.duration }
        if let keepChangesSize { retention.bytes = keepChangesSize << 20 }
        if let keepRemovals { retention.tombstoneAge = keepRemovals.duration }
        if let keepRemovalsSize { retention.tombstoneBytes = keepRemovalsSize << 20 }
        if let keepReceipts { retention.receiptAge = keepReceipts.duration }
        return retention
    }

    func validate() throws {
        for size in [keepChangesSize, keepRemovalsSize] {
            guard let size, !(0...1_000_000).contains(size) else { continue }
            throw ValidationError(
                "--keep-changes-size and --keep-removals-size are 0 to 1000000 megabytes."
            )
        }
    }
}

/// An age as an argument: a number with `s`, `m`, `h` or `d`.
struct ServedAge: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        // At most a hundred years, so that sums of ages do not overflow.
        guard let seconds = LogMoment.seconds(argument), seconds > 0, seconds <= 36_525 * 86_400
        else { return nil }
        duration = .seconds(seconds)
    }
}
