public import KeelHTTP

/// An event of a resumable transfer; later versions may add more.
public enum TransferEvent: Sendable {
    /// Bytes became safe: synchronized for a download, acknowledged for an upload.
    case progress(TransferProgress)
    /// In the background, the system sent or received bytes that are not safe yet.
    case provisionalProgress(TransferProgress)
    /// The transfer continues after the bytes of an earlier run.
    case resumed(at: Int64)
    /// The transfer starts over, and drops the bytes that were transferred before.
    case restarted(TransferRestart)
    /// An attempt failed, and another follows after a pause.
    case retrying(after: Duration, TransferError)
    /// The server does not offer resumable uploads; the file is sent as one plain request.
    case sendingPlainRequest
}

/// The reason a transfer restarted.
public struct TransferRestart: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The file at the server has changed since its first bytes were fetched.
    public static let changed = Self("the file on the server has changed")
    /// The server has no validator that could prove that the file is unchanged.
    public static let noValidator = Self("the server offers no strong validator")
    /// The server did not answer the range request with the range.
    public static let rangeRefused = Self("the server did not return the requested range")
    /// The address or the user differs from the earlier run's, and the configuration forbids continuing.
    public static let otherAddress = Self("the address has changed")
    /// The part or its record is damaged or from another version.
    public static let unusableRecord = Self("the record of the earlier run cannot be used")
    /// The server no longer has the upload.
    public static let expired = Self("the server no longer has the upload")
    /// Server and client disagree about the bytes that have arrived.
    public static let conflict = Self("the server rejects the offset that it reported")
}

/// An observer of a resumable transfer.
///
/// ```swift
/// let (observer, updates) = ResumableTransferObserver.updates()
/// async let receipt = download.run(observer: observer)
/// for await progress in updates { bar.value = progress.fraction }
/// ```
///
/// The closures are called in order, in the transfer's task or, for ``TransferEvent/provisionalProgress(_:)``, on the
/// queue of the background session. The transfer waits for them.
public struct ResumableTransferObserver: Sendable {
    private let event: @Sendable (TransferEvent) -> Void
    private let end: @Sendable () -> Void

    /// Returns an observer that passes all events to a closure.
    public static func events(
        _ tell: @escaping @Sendable (TransferEvent) -> Void
    ) -> ResumableTransferObserver {
        ResumableTransferObserver(event: tell) {}
    }

    /// Returns an observer and its progress: the safe bytes, or in the background those under way.
    ///
    /// A slow reader misses updates, but never the latest one. The sequence ends with the run.
    public static func updates() -> (
        observer: ResumableTransferObserver, updates: AsyncStream<TransferProgress>
    ) {
        let (updates, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let observer = ResumableTransferObserver { event in
            switch event {
            case .progress(let progress), .provisionalProgress(let progress):
                continuation.yield(progress)
            default: break
            }
        } end: {
            continuation.finish()
        }
        return (observer, updates)
    }

    func tell(_ event: TransferEvent) { self.event(event) }

    func finish() { end() }
}
