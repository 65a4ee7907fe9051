/// An observer of the bytes of an upload or a download.
///
/// ```swift
/// try await client.download(from: GetFilm(), to: url, observer: .progress { print($0.fraction ?? 0) })
///
/// let (observer, updates) = TransferObserver.updates()
/// async let film = client.download(from: GetFilm(), to: url, observer: observer)
/// for await progress in updates { bar.value = progress.fraction }
/// ```
///
/// Bytes of a download count when they have arrived and been decompressed. Bytes of an upload count when the transport
/// requests the next ones or the end; for a file that `URLSessionTransport` leaves to the system, when the system
/// reports them. Each attempt, and each redirect with the body, restarts the count at 0.
///
/// The closures are called in the order of the bytes; the transfer waits for them, so they should return quickly.
public struct TransferObserver: Sendable {
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let chunk: (@Sendable (ArraySlice<UInt8>) -> Void)?
    private let end: (@Sendable () -> Void)?

    private init(
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        chunk: (@Sendable (ArraySlice<UInt8>) -> Void)? = nil,
        end: (@Sendable () -> Void)? = nil
    ) {
        self.progress = progress
        self.chunk = chunk
        self.end = end
    }

    /// Creates an observer that reports the progress of the transfer.
    public static func progress(
        _ report: @escaping @Sendable (TransferProgress) -> Void
    ) -> TransferObserver {
        TransferObserver(progress: report)
    }

    /// Creates an observer that receives each chunk of the body, such as for a checksum.
    ///
    /// A repeated request reports all chunks again.
    public static func chunks(
        _ show: @escaping @Sendable (ArraySlice<UInt8>) -> Void
    ) -> TransferObserver {
        TransferObserver(chunk: show)
    }

    /// Creates an observer of one transfer and the sequence of its reports.
    ///
    /// A slow reader misses reports, but never the latest one. The sequence ends with the transfer.
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

    /// Returns an observer that forwards to both this one and another.
    public func combined(with other: TransferObserver) -> TransferObserver {
        TransferObserver(
            progress: Self.both(progress, other.progress),
            chunk: Self.both(chunk, other.chunk),
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

    var observesChunks: Bool { chunk != nil }

    func show(_ bytes: ArraySlice<UInt8>) { chunk?(bytes) }

    func finish() { end?() }
}

/// The progress of an upload or a download.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes that count, see ``TransferObserver``.
    public var completedBytes: Int64

    /// The total number of bytes; nil if it is unknown, as for a compressed response.
    public var totalBytes: Int64?

    /// Creates a report.
    public init(completedBytes: Int64, totalBytes: Int64? = nil) {
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }

    /// The completed fraction, from 0 to 1; nil if the total is unknown.
    public var fraction: Double? {
        guard let totalBytes else { return nil }
        guard totalBytes > 0 else { return 1 }
        return min(1, Double(completedBytes) / Double(totalBytes))
    }
}
