package import Foundation
internal import KeelToolSupport

/// Checks free disk space, the limit of open files and the folder for temporary files, and reports the machine.
///
/// It writes a file into the folder for temporary files, and removes it.
package struct MachineCheck: DoctorCheck {
    package struct Readings: Sendable {
        package var system: String
        package var coreCount: Int
        package var memoryByteCount: UInt64
        /// The process's limit of open files, and its maximum; nil for unlimited.
        package var openFiles: (soft: UInt64?, hard: UInt64?)
        /// Returns the free bytes of a folder's volume; nil if unknown.
        package var freeByteCount: @Sendable (_ folder: URL) -> Int64?
        package var temporaryFolder: URL

        package init(
            system: String,
            coreCount: Int,
            memoryByteCount: UInt64,
            openFiles: (soft: UInt64?, hard: UInt64?),
            freeByteCount: @escaping @Sendable (_ folder: URL) -> Int64?,
            temporaryFolder: URL
        ) {
            self.system = system
            self.coreCount = coreCount
            self.memoryByteCount = memoryByteCount
            self.openFiles = openFiles
            self.freeByteCount = freeByteCount
            self.temporaryFolder = temporaryFolder
        }
    }

    /// The free bytes below which there is a warning.
    static let littleRoom: Int64 = 1 << 30
    /// The soft limit of open files below which there is a warning.
    static let fewFiles: UInt64 = 1024

    private let readings: Readings
    private let folders: [URL]

    /// Creates a check that includes the volumes of folders.
    package init(_ readings: Readings = .current, folders: [URL]) {
        self.readings = readings
        self.folders = folders
    }

    package func findings() async -> [DoctorFinding] {
        let memory = Self.gigabytes(Int64(clamping: readings.memoryByteCount))
        var findings: [DoctorFinding] = [
            .good("machine", "\(readings.system), \(readings.coreCount.counted("core")), \(memory)")
        ]
        findings += folders.map(room)
        findings.append(temporaryFolder())
        findings.append(openFiles())
        return findings
    }

    private func room(in folder: URL) -> DoctorFinding {
        let subject = "disk \(folder.path)"
        guard let free = readings.freeByteCount(folder) else {
            return .problem(
                subject,
                "The folder cannot be inspected.",
                advice: "Give a folder that exists, or give this user access to it."
            )
        }
        let text = "\(Self.gigabytes(free)) free"
        guard free < Self.littleRoom else { return .good(subject, text) }
        return .warning(
            subject,
            text,
            advice:
                "Free disk space: stores, journals and caches need it, and compacting a store needs "
                + "a temporary second copy."
        )
    }

    private func temporaryFolder() -> DoctorFinding {
        let folder = readings.temporaryFolder
        let probe = folder.appending(path: "keel-doctor-\(UUID().uuidString)")
        do {
            try Data("probe".utf8).write(to: probe)
            try FileManager.default.removeItem(at: probe)
            return .good("temporary files", folder.path)
        } catch {
            return .problem(
                "temporary files",
                "Nothing can be written to \(folder.path).",
                advice: "Set TMPDIR to a folder that this user may write to."
            )
        }
    }

    private func openFiles() -> DoctorFinding {
        guard let soft = readings.openFiles.soft, soft < Self.fewFiles else {
            let soft = readings.openFiles.soft.map { "\($0)" } ?? "no limit"
            return .good("open files", soft)
        }
        let hard = readings.openFiles.hard.map { "\($0)" } ?? "any number"
        return .warning(
            "open files",
            "at most \(soft), can be raised to \(hard)",
            advice: "Raise the limit for servers: `ulimit -n 4096`, or LimitNOFILE of the unit."
        )
    }

    private static func gigabytes(_ count: Int64) -> String {
        (Double(count) / Double(1 << 30)).formatted(.number.precision(.fractionLength(1))) + " GiB"
    }
}

extension MachineCheck.Readings {
    package static var current: Self {
        let process = ProcessInfo.processInfo
        return Self(
            system: process.operatingSystemVersionString,
            coreCount: process.activeProcessorCount,
            memoryByteCount: process.physicalMemory,
            openFiles: OpenFileLimit.current,
            freeByteCount: { folder in
                let attributes = try? FileManager.default.attributesOfFileSystem(
                    forPath: folder.path
                )
                return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value
            },
            temporaryFolder: FileManager.default.temporaryDirectory
        )
    }
}
