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

/// A change that the local store made in its folder, as it happened.
///
/// Files and folders have the numbers that the volume gave them.
package enum FolderStep: Sendable {
    /// A new, empty file has this name, since this time in nanoseconds since 1970.
    case create(file: UInt64, folder: UInt64, name: String, modified: Int64)
    /// A new folder has this name.
    case makeFolder(UInt64, folder: UInt64, name: String)
    /// Bytes were written behind those that a file has, at this time.
    case write(file: UInt64, bytes: [UInt8], modified: Int64)
    /// A file has another label.
    case label(file: UInt64, bytes: [UInt8])
    /// What had one name has another one, in place of what had that.
    case rename(folder: UInt64, name: String, newFolder: UInt64, newName: String)
    /// A name is gone.
    case remove(folder: UInt64, name: String)
    /// What a file holds, or which names a folder holds, is on the disk.
    case sync(UInt64)
}

/// The changes that a local store made, in order.
///
/// Tests repeat a part of them elsewhere, as a process that was killed or a power failure would have left
/// it, and look at what opens. A store has none of them otherwise.
package final class FolderTrace: Sendable {
    private let recorded = Mutex<[FolderStep]>([])

    /// Begins without changes.
    package init() {}

    /// The changes so far.
    package var steps: [FolderStep] { recorded.withLock { $0 } }

    /// Gives a file the label that a step tells of.
    ///
    /// - Parameters:
    ///   - bytes: The label.
    ///   - file: The number of the file, which is open for writing.
    /// - Returns: Whether the file has it.
    package static func `repeat`(label bytes: [UInt8], on file: Int32) -> Bool {
        // A descriptor closes what it is given.
        Descriptor(dup(file)).setAttribute(FileLabel.name, bytes) == 0
    }

    func note(_ step: FolderStep) { recorded.withLock { $0.append(step) } }
}
