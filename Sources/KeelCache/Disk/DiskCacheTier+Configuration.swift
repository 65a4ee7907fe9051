public import KeelCore

extension DiskCacheTier {
    /// The settings of a disk tier.
    public struct Configuration: Sendable {
        /// The most bytes that the tier takes on disk; at least 16 KiB.
        ///
        /// Segments, large values, values on their way and the index count. At any moment the tier
        /// may take up to one segment more.
        public var byteLimit: Int
        /// How large a segment grows, which is also what is given back at once.
        ///
        /// Kept between 4 KiB and an eighth of the limit.
        public var segmentByteCount = 4 << 20
        /// Values above this many bytes are kept in files of their own.
        public var largeValueByteCount = 64 << 10
        /// Encrypts what the folder holds.
        ///
        /// Keys, values and tags are sealed; an entry is found by a keyed hash of its key. Readable
        /// stay the times, the lengths and the number of entries. A folder that was written with
        /// other settings of sealing, or none, is emptied when it is opened.
        public var sealing: (any ByteSealing)?
        /// Makes values smaller before they are sealed and written.
        public var compression: CacheCompression?
        /// What decides whether an entry has expired.
        public var clock = CacheClock.system

        /// Where the files are.
        package var fileSystem: any FileSystem = DiskFileSystem()
        /// What numbers of files are drawn from.
        package var randomness: @Sendable () -> UInt64 = { .random(in: 1 ... .max) }
        /// Carries out a piece of work that waits for the disk, once and soon.
        package typealias DiskWork = @Sendable (@escaping @Sendable () -> Void) -> Void
        /// Does what waits for the disk, in place of threads of the tier's own.
        ///
        /// A simulation gives the one thread that everything runs on. The work of one tier must run
        /// one piece after the other.
        package var diskWork: DiskWork?
        /// How many segments are kept open.
        package var openFileCount = 64

        /// Creates settings.
        ///
        /// - Parameter byteLimit: The most bytes that the tier takes on disk.
        public init(byteLimit: Int = 256 << 20) { self.byteLimit = byteLimit }

        /// The segment's length within its bounds.
        var usedSegmentByteCount: Int {
            max(4096, min(segmentByteCount, byteLimit / 8, 1 << 30))
        }

        /// The length above which values get a file, within its bounds.
        var usedLargeValueByteCount: Int {
            max(1, min(largeValueByteCount, usedSegmentByteCount / 4))
        }
    }
}
