public import KeelHTTP

/// Something that happened to a resumable transfer; later versions may add more.
public enum TransferEvent: Sendable {
    /// So many bytes are safe: written and synchronised for a download, acknowledged by the server
    /// for an upload.
    case progress(TransferProgress)
    /// So many bytes were sent or received by the system, in the background, and are not safe yet.
    case underway(TransferProgress)
    /// Bytes of an earlier run were found, and the transfer goes on behind them.
    case resumed(at: Int64)
    /// The transfer begins anew, and what was transferred before is dropped.
    case restarted(TransferRestart)
    /// An attempt failed, and another follows after a pause.
    case retrying(after: Duration, TransferError)
    /// The server does not offer resumable uploads; the file is sent as one plain request.
    case sendingWhole
}

/// Why a transfer began anew.
public struct TransferRestart: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    private init(_ description: String) { self.description = description }

    /// The file at the server is not the one whose first bytes are here.
    public static let changed = Self("the file at the server has changed")
    /// The server has no validator for the file that could prove that it is the same.
    public static let noValidator = Self("the server offers no strong validator")
    /// The server answered the request for a range with something else.
    public static let rangeRefused = Self("the server did not give the range asked for")
    /// The address differs from that of the earlier run, and the configuration says not to go on.
    public static let otherAddress = Self("the address is another one")
    /// The part on the disk, or what is noted about it, is damaged or from another version.
    public static let unusableRecord = Self("what was kept of the earlier run cannot be used")
    /// The server has no such upload any more.
    public static let expired = Self("the server has no such upload any more")
    /// Server and client could not agree on how many bytes have arrived.
    public static let conflict = Self("the server refuses the offset that it told")
}

/// Looks at a resumable transfer while it runs.
///
/// ```swift
/// let (observer, updates) = ResumableTransferObserver.updates()
/// async let receipt = download.run(observer: observer)
/// for await progress in updates { bar.value = progress.fraction }
/// ```
///
/// The closures are called in order, by the task of the transfer, which waits for them.
public struct ResumableTransferObserver: Sendable {
    private let event: @Sendable (TransferEvent) -> Void
    private let end: @Sendable () -> Void

    /// Tells a closure everything that happens.
    public static func events(
        _ tell: @escaping @Sendable (TransferEvent) -> Void
    ) -> ResumableTransferObserver {
        ResumableTransferObserver(event: tell) {}
    }

    /// Returns an observer, and a sequence of how many bytes are safe; in the background, of how many
    /// are under way.
    ///
    /// A slow reader misses reports, never the latest one. The sequence ends with the run.
    public static func updates() -> (
        observer: ResumableTransferObserver, updates: AsyncStream<TransferProgress>
    ) {
        let (updates, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let observer = ResumableTransferObserver { event in
            switch event {
            case .progress(let progress), .underway(let progress): continuation.yield(progress)
            default: break
            }
        } end: {
            continuation.finish()
        }
        return (observer, updates)
    }

    private init(
        event: @escaping @Sendable (TransferEvent) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        self.event = event
        self.end = end
    }

    func tell(_ event: TransferEvent) { self.event(event) }

    func finish() { end() }
}
