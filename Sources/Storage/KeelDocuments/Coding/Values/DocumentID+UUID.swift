#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension UUID: DocumentIDRepresentable {
    public init?(documentID: String) { self.init(uuidString: documentID) }
    public var documentID: String? { uuidString }
}

extension DocumentEncoder {
    /// Returns the id of a value: from its ``DocumentID``, or else from `Identifiable`; nil without one.
    package static func documentID(
        of value: some Any,
        encoded: EncodedDocument
    ) -> String? {
        if let id = encoded.documentID { return id }
        guard let value = value as? any Identifiable else { return nil }
        return id(of: value)
    }

    private static func id(of value: some Identifiable) -> String? {
        let id: Any = value.id
        if let id = id as? any DocumentIDRepresentable { return id.documentID }
        return (id as? any LosslessStringConvertible)?.description
    }
}
