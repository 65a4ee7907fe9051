internal import KeelFiles
internal import Synchronization

/// What there is to tell of a copy that is under way.
package enum CopyProgress: Sendable {
    /// How far all of it has come.
    case moved(CopyState)
    /// A file was copied.
    case copied(FileTransfers.Copied)
}

/// How far a copy has come.
package struct CopyState: Sendable {
    /// What is copied, where that is one file.
    package var place: FilePlace?
    /// How many files have been copied.
    package var fileCount = 0
    /// How many there are; nil where that is not known before the end.
    package var totalFileCount: Int?
    /// How many bytes have been read, of files on their way too.
    package var byteCount = 0
    /// How many there are; nil where that is not known before the end.
    package var totalByteCount: Int?

    /// The part of the bytes that has been read, 0 to 1; nil where it is not known.
    package var fraction: Double? {
        totalByteCount.map { $0 > 0 ? min(1, Double(byteCount) / Double($0)) : 1 }
    }
}

/// Adds up what several files that are copied at a time tell, and lets one tell at a time.
final class CopyMeter: Sendable {
    private struct State {
        var state: CopyState
        /// How far the files on their way have come.
        var underWay: [FilePlace: Int] = [:]
        /// The bytes of the files that have been copied.
        var copied = 0

        mutating func count() { state.byteCount = copied + underWay.values.reduce(0, +) }
    }

    private let state: Mutex<State>
    private let tell: @Sendable (CopyProgress) throws -> Void

    /// Counts one file.
    init(one place: FilePlace, _ tell: @escaping @Sendable (CopyProgress) throws -> Void) {
        state = Mutex(State(state: CopyState(place: place)))
        self.tell = tell
    }

    /// Counts the files of a folder.
    init(
        fileCount: Int? = nil,
        byteCount: Int? = nil,
        _ tell: @escaping @Sendable (CopyProgress) throws -> Void
    ) {
        let begun = CopyState(totalFileCount: fileCount, totalByteCount: byteCount)
        state = Mutex(State(state: begun))
        self.tell = tell
    }

    /// What was done so far.
    var report: FileTransfers.Report {
        state.withLock { state in
            var report = FileTransfers.Report()
            report.fileCount = state.state.fileCount
            report.byteCount = state.copied
            return report
        }
    }

    /// Takes note of how far a file has come; one that is sent again comes from the start.
    func update(_ file: FilePlace, _ progress: FileProgress) {
        state.withLock { state in
            state.underWay[file] = progress.byteCount
            if state.state.place != nil { state.state.totalByteCount = progress.total }
            state.count()
            // A bar that cannot be drawn is no reason to give up.
            try? tell(.moved(state.state))
        }
    }

    /// Takes note of a file that was copied.
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
