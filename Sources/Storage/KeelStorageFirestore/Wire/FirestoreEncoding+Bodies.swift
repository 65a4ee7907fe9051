internal import KeelCBOR
internal import KeelCore
package import KeelStorageAdapting

/// Encoding of documents from CBOR to JSON in one pass, without decoding them first.
extension FirestoreEncoding {
    /// Appends a `Document` as JSON text, with the same result as ``document(_:)``.
    ///
    /// - Throws: `StorageError/Code/corrupted` if the document's body cannot be decoded; the bytes appended so far
    ///   remain.
    package func append(_ document: Document, to bytes: inout [UInt8]) throws(StorageError) {
        // `reserveCapacity` reserves exactly the given number of bytes. Called for each document of a list, it would
        // copy the list each time.
        let needed = bytes.count + 256 + 2 * document.body.bytes.count
        if bytes.capacity < needed { bytes.reserveCapacity(max(needed, 2 * bytes.capacity)) }
        bytes += #"{"name":"#.utf8
        FirestoreJSON.string(name(of: document.path)).append(to: &bytes)
        bytes += #","fields":"#.utf8
        var reader = CBORReader(document.body.bytes)
        do throws(CBORError) {
            try appendFields(&reader, to: &bytes)
            try reader.finish()
        } catch {
            throw StorageError(
                .corrupted,
                "the body of “\(document.path)” cannot be decoded",
                resource: document.path.string,
                cause: error
            )
        }
        bytes += #","createTime":""#.utf8
        bytes += FirestoreTime.text(of: document.createTime).utf8
        bytes += #"","updateTime":""#.utf8
        bytes += FirestoreTime.text(of: document.updateTime).utf8
        bytes.append(UInt8(ascii: "\""))
        if isExtended {
            bytes += #","keel":{"revision":""#.utf8
            bytes += "\(document.revision.number)".utf8
            bytes += #""}"#.utf8
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private func appendFields(
        _ reader: inout CBORReader,
        to bytes: inout [UInt8]
    ) throws(CBORError) {
        guard let count = try reader.readMapHeader() else {
            throw CBORError(.unsupported, at: reader.position)
        }
        bytes.append(UInt8(ascii: "{"))
        for position in 0..<count {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            try Self.appendText(&reader, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            try appendValue(&reader, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func appendText(
        _ reader: inout CBORReader,
        to bytes: inout [UInt8]
    ) throws(CBORError) {
        let range = try reader.readTextRange()
        reader.bytes[range].withUnsafeBufferPointer { text in
            JSONString.append(utf8: text, to: &bytes)
        }
    }

    private func appendValue(
        _ reader: inout CBORReader,
        to bytes: inout [UInt8]
    ) throws(CBORError) {
        switch try reader.peekKind() {
        case .unsigned, .negative:
            bytes += #"{"integerValue":""#.utf8
            bytes += "\(try reader.readInteger())".utf8
            bytes += #""}"#.utf8
        case .boolean: bytes += Self.text(ofBoolean: try reader.readBoolean()).utf8
        case .text:
            bytes += #"{"stringValue":"#.utf8
            try Self.appendText(&reader, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        case .map:
            bytes += #"{"mapValue":{"fields":"#.utf8
            try appendFields(&reader, to: &bytes)
            bytes += "}}".utf8
        case .array:
            guard let count = try reader.readArrayHeader() else {
                throw CBORError(.unsupported, at: reader.position)
            }
            bytes += #"{"arrayValue":{"values":["#.utf8
            for position in 0..<count {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                try appendValue(&reader, to: &bytes)
            }
            bytes += "]}}".utf8
        // The remaining kinds are rare or small: null, doubles, bytes, times, references, geopoints, vectors.
        default: value(try reader.readValue()).append(to: &bytes)
        }
    }

    private static func text(ofBoolean value: Bool) -> String {
        value ? #"{"booleanValue":true}"# : #"{"booleanValue":false}"#
    }
}
