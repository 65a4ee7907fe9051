extension EncodingFrame: Encoder {
    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var frame: EncodingFrame? = self
        while let current = frame {
            switch current.step {
            case .root: break
            case .name(let name): path.append(DocumentCodingKey(stringValue: name))
            case .index(let index): path.append(DocumentCodingKey(index: index))
            }
            frame = current.parent
        }
        return path.reversed()
    }

    var userInfo: [CodingUserInfoKey: Any] { sink.context.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedFieldWriter<Key>(frame: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { ElementWriter(frame: self) }

    func singleValueContainer() -> any SingleValueEncodingContainer { ValueWriter(frame: self) }

    /// The path of this value within the document, for a transform.
    var fieldPath: FieldPath { FieldPath(names: codingPath.map(\.stringValue)) }

    func flaw(
        _ words: String,
        at key: DocumentCodingKey? = nil,
        code: StorageError.Code = .encodingFailed,
        of type: Any.Type = Any.self
    ) -> EncodingError {
        let path = codingPath + (key.map { [$0] } ?? [])
        let flaw = CodingFlaw(code: words == CodingWords.tooDeep ? .tooLarge : code, words: words)
        return .invalidValue(
            type,
            EncodingError.Context(
                codingPath: path,
                debugDescription: words,
                underlyingError: flaw
            )
        )
    }
}

/// The messages about values that documents cannot hold.
enum CodingWords {
    static let arrayInArray =
        "an array cannot be directly in an array; wrap the inner one in a struct or dictionary"
    static let encodedTwice = "encode(to:) encodes the value twice, in different forms"
    static let tooDeep =
        "maps and arrays nest deeper than \(EncodingFrame.deepest) levels; "
        + "move the inner values to separate documents"
    static let outOfTurn =
        "encode(to:) used a container while another value was being encoded, or after it returned"
    static let emptyName = "a field’s name cannot be empty"
    static let longName = "a field’s name cannot be longer than \(StoredName.longest) bytes"
    static let reservedName = "names of the form “__…__” are reserved; choose another coding key"
    static let noMap =
        "a document is a map of fields; wrap the value in a struct with a property for it"
    static let tooLarge = "the document is larger than 1 MiB; move large data to a file or split it"
    static let geopoint =
        "a geopoint’s latitude must lie in -90…90 and its longitude in -180…180"
    static let vectorInArray =
        "a vector cannot be directly in an array; wrap it in a struct or dictionary"
    static let timestampInArray =
        "a server timestamp cannot be in an array; set a date there"
    static let integerTooLarge = "documents hold integers up to Int64.max; this one is larger"
}
