public import KeelCore

extension DiskCacheTier {
    /// The settings of a disk tier.
    public struct Configuration: Sendable {
        /// The maximum number of bytes on disk, at least 16 KiB; the tier can exceed it by one segment for a moment.
        ///
        /// Segments, large values, unfinished values and the index count.
        public var byteLimit: Int
        /// The size of a segment, which is also the unit of eviction; 4 MiB by default.
        ///
        /// At most an eighth of the limit and 1 GiB, but at least 4 KiB.
        public var segmentByteCount = 4 << 20
        /// The size, after compression, above which a value gets its own file: at most a quarter of a segment; 64 KiB
        /// by default.
        public var largeValueByteCount = 64 << 10
        /// Encrypts the contents of the folder.
        ///
        /// Keys, values and tags are sealed, and an entry is found by a keyed hash of its key. Times, lengths and the
        /// number of entries remain readable. A folder written without sealing is emptied when it is opened with
        /// sealing, and vice versa. Entries sealed under another key are not found, and stay until they are evicted or
        /// all entries are removed. Sealing must add at most 128 bytes to a piece of a large value.
        public var sealing: (any ByteSealing)?
        /// Compresses values, except those written as files, before they are sealed and written.
        public var compression: CacheCompression?
        /// The clock that decides whether an entry has expired.
        public var clock = CacheClock.system

        package var fileSystem: any FileSystem = DiskFileSystem()
        /// The source of random identifiers of files.
        package var randomness: @Sendable () -> UInt64 = { .random(in: 1 ... .max) }
        /// Runs a blocking piece of disk work, once and soon.
        package typealias DiskWork = @Sendable (@escaping @Sendable () -> Void) -> Void
        /// Runs disk work instead of the tier's threads.
        ///
        /// A simulation passes its only thread. The work of one tier must run serially.
        package var diskWork: DiskWork?
        /// The maximum number of open segments.
        package var openFileCount = 64

        /// Creates settings.
        public init(byteLimit: Int = 256 << 20) { self.byteLimit = byteLimit }

        var usedSegmentByteCount: Int {
            max(4096, min(segmentByteCount, byteLimit / 8, 1 << 30))
        }

        var usedLargeValueByteCount: Int {
            max(1, min(largeValueByteCount, usedSegmentByteCount / 4))
        }
    }
}
