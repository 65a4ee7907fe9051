internal import KeelFiles
internal import Synchronization

package enum CopyProgress: Sendable {
    case moved(CopyState)
    case copied(FileTransfers.Copied)
}

package struct CopyState: Sendable {
    /// The place, if a single file is copied.
    package var place: FilePlace?
    package var fileCount = 0
    /// The total number of files; nil if not known in advance.
    package var totalFileCount: Int?
    /// The bytes of copied files, and those read of other files.
    package var byteCount = 0
    /// The total number of bytes; nil if not known in advance.
    package var totalByteCount: Int?
}

/// Adds up the progress of concurrent copies, and reports it to one caller at a time.
final class CopyMeter: Sendable {
    private struct State {
        var state: CopyState
        /// The bytes of files in progress, and of failed ones.
        var underWay: [FilePlace: Int] = [:]
        var copied = 0
        var hasFailed = false

        mutating func count() { state.byteCount = copied + underWay.values.reduce(0, +) }
    }

    private let state: Mutex<State>
    private let tell: @Sendable (CopyProgress) throws -> Void

    init(one place: FilePlace, _ tell: @escaping @Sendable (CopyProgress) throws -> Void) {
        state = Mutex(State(state: CopyState(place: place)))
        self.tell = tell
    }

    init(
        fileCount: Int? = nil,
        byteCount: Int? = nil,
        _ tell: @escaping @Sendable (CopyProgress) throws -> Void
    ) {
        let begun = CopyState(totalFileCount: fileCount, totalByteCount: byteCount)
        state = Mutex(State(state: begun))
        self.tell = tell
    }

    var report: FileTransfers.Report {
        state.withLock { state in
            var report = FileTransfers.Report()
            report.fileCount = state.state.fileCount
            report.byteCount = state.copied
            return report
        }
    }

    /// Whether a file has failed.
    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    func fail() { state.withLock { $0.hasFailed = true } }

    /// Updates the progress of a file, which restarts at zero if it is sent again.
    func update(_ file: FilePlace, _ progress: FileProgress) {
        state.withLock { state in
            state.underWay[file] = progress.byteCount
            if state.state.place != nil { state.state.totalByteCount = progress.total }
            state.count()
            // A failure to draw the progress does not stop the copy.
            try? tell(.moved(state.state))
        }
    }

    func finish(_ file: FileTransfers.Copied) throws {
        try state.withLock { state in
            state.underWay[file.from] = nil
            state.copied += file.byteCount
            state.state.fileCount += 1
            state.count()
            try tell(.copied(file))
            if state.state.place == nil { try tell(.moved(state.state)) }
        }
    }
}
