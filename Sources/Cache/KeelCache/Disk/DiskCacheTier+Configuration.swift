public import KeelCore

extension DiskCacheTier {
    /// The settings of a disk tier.
    public struct Configuration: Sendable {
        /// The maximum number of bytes on disk; at least 16 KiB.
        ///
        /// Counts segments, large values, unfinished values and the index. The tier can momentarily exceed the limit by
        /// one segment.
        public var byteLimit: Int
        /// The size of a segment, which is also the unit of eviction.
        ///
        /// Clamped to between 4 KiB and an eighth of the limit.
        public var segmentByteCount = 4 << 20
        /// The size above which a value gets its own file.
        public var largeValueByteCount = 64 << 10
        /// Encrypts the contents of the folder.
        ///
        /// Keys, values and tags are sealed, and an entry is found by a keyed hash of its key. Times, lengths and the
        /// number of entries remain readable. Opening a folder written with another sealing, or none, empties it.
        public var sealing: (any ByteSealing)?
        /// Compresses values before they are sealed and written.
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

        /// The size above which values get a file, within its bounds.
        var usedLargeValueByteCount: Int {
            max(1, min(largeValueByteCount, usedSegmentByteCount / 4))
        }
    }
}
