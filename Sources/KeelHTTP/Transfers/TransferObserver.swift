/// Looks at the bytes of an upload or a download while they move.
///
/// ```swift
/// try await client.download(from: GetFilm(), to: url, observer: .progress { print($0.fraction ?? 0) })
///
/// let (observer, updates) = TransferObserver.updates()
/// async let film = client.download(from: GetFilm(), to: url, observer: observer)
/// for await progress in updates { bar.value = progress.fraction }
/// ```
///
/// Bytes of a download count when the network has delivered them. Bytes of an upload count when
/// the transport asks for the next ones, or for the end: it has taken what it was given before.
/// `URLSessionTransport` leaves a file to the system, which says itself what it has sent.
/// When a request is repeated or redirected with its body, its count begins again at 0.
///
/// The closures are called in the order of the bytes, by whichever task moves them: they should be
/// quick, and the transfer waits for them.
public struct TransferObserver: Sendable {
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let piece: (@Sendable (ArraySlice<UInt8>) -> Void)?
    private let end: (@Sendable () -> Void)?

    private init(
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        piece: (@Sendable (ArraySlice<UInt8>) -> Void)? = nil,
        end: (@Sendable () -> Void)? = nil
    ) {
        self.progress = progress
        self.piece = piece
        self.end = end
    }

    /// Reports how far the transfer has come.
    public static func progress(
        _ report: @escaping @Sendable (TransferProgress) -> Void
    ) -> TransferObserver {
        TransferObserver(progress: report)
    }

    /// Shows each piece of the body, such as for a checksum; of a repeated request all pieces again.
    public static func pieces(
        _ show: @escaping @Sendable (ArraySlice<UInt8>) -> Void
    ) -> TransferObserver {
        TransferObserver(piece: show)
    }

    /// Returns an observer, and a sequence of what it sees.
    ///
    /// A slow reader misses reports, never the latest one. The sequence ends with the transfer; give
    /// the observer to one transfer only.
    public static func updates() -> (
        observer: TransferObserver, updates: AsyncStream<TransferProgress>
    ) {
        let (updates, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let observer = TransferObserver(
            progress: { continuation.yield($0) },
            end: { continuation.finish() }
        )
        return (observer, updates)
    }

    /// Returns an observer that tells both this one and another.
    public func and(_ other: TransferObserver) -> TransferObserver {
        TransferObserver(
            progress: Self.both(progress, other.progress),
            piece: Self.both(piece, other.piece),
            end: { [end, other] in
                end?()
                other.end?()
            }
        )
    }

    private static func both<Value>(
        _ one: (@Sendable (Value) -> Void)?,
        _ other: (@Sendable (Value) -> Void)?
    ) -> (@Sendable (Value) -> Void)? {
        guard let one, let other else { return one ?? other }
        return { value in
            one(value)
            other(value)
        }
    }

    func report(_ completed: Int64, of total: Int64?) {
        progress?(TransferProgress(completedBytes: completed, totalBytes: total))
    }

    /// Whether it looks at the bytes themselves.
    var showsPieces: Bool { piece != nil }

    func show(_ bytes: ArraySlice<UInt8>) { piece?(bytes) }

    func finish() { end?() }
}
