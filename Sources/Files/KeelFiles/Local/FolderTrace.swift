internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// A change that the local store made in its folder.
///
/// Files and folders are identified by their inode numbers.
package enum FolderStep: Sendable {
    /// A new, empty file was created at a time in nanoseconds since 1970.
    case create(file: UInt64, folder: UInt64, name: String, modified: Int64)
    case makeFolder(UInt64, folder: UInt64, name: String)
    /// Bytes were appended to a file at a time.
    case write(file: UInt64, bytes: [UInt8], modified: Int64)
    case label(file: UInt64, bytes: [UInt8])
    /// A file or folder was renamed, replacing the target.
    case rename(folder: UInt64, name: String, newFolder: UInt64, newName: String)
    case remove(folder: UInt64, name: String)
    /// The content of a file, or the names in a folder, reached the disk.
    case sync(UInt64)
}

/// The changes that a local store made, in order.
///
/// Tests repeat a prefix of them elsewhere, as a killed process or a power failure would have left it.
package final class FolderTrace: Sendable {
    private let recorded = Mutex<[FolderStep]>([])

    package init() {}

    package var steps: [FolderStep] { recorded.withLock { $0 } }

    /// Sets the label of a recorded step on a file that is open for writing, and returns whether that succeeded.
    package static func `repeat`(label bytes: [UInt8], on file: Int32) -> Bool {
        // `Descriptor` closes its file, so it gets a duplicate.
        Descriptor(dup(file)).setAttribute(FileLabel.name, bytes) == 0
    }

    func note(_ step: FolderStep) { recorded.withLock { $0.append(step) } }
}
