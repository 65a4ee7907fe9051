package import KeelDocuments

/// Sort keys of documents: bytes that compare like the order itself.
package struct SortKey: Sendable {
    private enum Part: Sendable {
        case field(CompiledFieldPath, DocumentQuery.Direction)
        case path(DocumentQuery.Direction)
    }

    private let parts: [Part]

    /// `orders` include the path.
    package init(_ orders: [DocumentQuery.Order]) {
        parts = orders.map { order in
            order.field.isDocumentID
                ? .path(order.direction)
                : .field(CompiledFieldPath(order.field), order.direction)
        }
    }

    /// Nil if the document lacks one of the fields.
    package func key(of document: Document) -> [UInt8]? {
        var key: [UInt8] = []
        // Most keys fit; growing the array costs more than computing the key.
        key.reserveCapacity(96)
        for part in parts {
            let start = key.count
            let direction: DocumentQuery.Direction
            switch part {
            case .field(let field, let wanted):
                guard document.body.appendKey(of: field, to: &key) else { return nil }
                direction = wanted
            case .path(let wanted):
                IndexKey.append(path: document.path, to: &key)
                direction = wanted
            }
            if direction == .descending { IndexKey.complement(&key, from: start) }
        }
        return key
    }
}
