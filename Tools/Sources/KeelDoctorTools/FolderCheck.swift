internal import Foundation
internal import KeelFiles
internal import KeelToolSupport

/// Checks whether a folder has a file store that can be read, and whether its volume has extended attributes.
package struct FolderCheck: DoctorCheck {
    private let folder: String

    package init(_ folder: String) { self.folder = folder }

    package func findings() async -> [DoctorFinding] {
        let subject = "files \(folder)"
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
            isFolder.boolValue
        else {
            return [
                .problem(
                    subject,
                    "There is no such folder.",
                    advice: "Correct the path; an app creates its folder when it first runs."
                )
            ]
        }
        // Opening a store creates it, so a folder without one is left alone.
        guard FileManager.default.fileExists(atPath: folder + "/.keel-files") else {
            return [
                .warning(
                    subject,
                    "No file store has been opened in it yet.",
                    advice: "Start the app once, or give the folder of its files."
                )
            ]
        }
        do throws(FileStoreError) {
            let adapter = try LocalFileStoreAdapter(folder: folder)
            let page = try await FileStore(adapter).list(limit: 1)
            let isEmpty = page.files.isEmpty ? "empty" : "there are files"
            guard adapter.capabilities.contains(.attributes) else {
                return [
                    .warning(
                        subject,
                        "The volume does not support extended attributes (\(isEmpty)).",
                        advice: "Put the folder on a volume that does (ext4, xfs, btrfs, APFS): "
                            + "files here have no content types of their own, attributes or checksums."
                    )
                ]
            }
            return [.good(subject, isEmpty)]
        } catch {
            let described = ToolError(describing: error)
            return [.problem(subject, described.message, advice: described.advice)]
        }
    }
}
