internal import Foundation
internal import KeelStorageFirestore

/// The detected format of a file.
struct ImportForm {
    let container: ElementReader.Container
    let isTyped: Bool

    /// Detects the format from the beginning of a file.
    ///
    /// A file that begins with “[” is an array. If the first element is a document in the typed form, all elements must
    /// be.
    init(of file: URL, as format: ImportFormat) throws {
        var probe = try ElementReader(file, container: .array)
        while let byte = try probe.peek(), byte.isJSONSpace { probe.skip() }
        let isArray = try probe.peek() == UInt8(ascii: "[")
        container =
            switch format {
            case .json: .array
            case .jsonl: .lines
            case .auto, .typed: isArray ? .array : .lines
            }
        guard format == .auto else {
            isTyped = format == .typed
            return
        }
        var reader = try ElementReader(file, container: container)
        let first = try reader.next()
        // A file without elements, such as the export of an empty collection, lacks nothing.
        isTyped = first.map { (try? DocumentJSON.document(typed: $0.text)) != nil } ?? true
    }
}
