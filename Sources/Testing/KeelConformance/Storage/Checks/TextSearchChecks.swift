import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let textSearch: [Self] = searchRows.map(searchCheck) + searchChecks

    private typealias SearchRow = (
        promise: String, query: @Sendable (DocumentQuery) -> DocumentQuery, found: [String]
    )

    private static let searchRows: [SearchRow] = [
        ("finds a word at any position", { $0.matching("kitchen") }, ["a", "b", "d"]),
        ("finds only documents with all of the words", { $0.matching("kitchen ocean") }, ["b"]),
        ("finds words in any order", { $0.matching("ocean kitchen") }, ["b"]),
        ("finds words in different fields", { $0.matching("luigi kitchen") }, ["a"]),
        ("ignores case", { $0.matching("KITCHEN luigi") }, ["a"]),
        ("ignores accents", { $0.matching("creme") }, ["c"]),
        (
            "ignores accents in the search text", { $0.matching("cr\u{e8}me br\u{fb}l\u{e9}e") },
            ["c"]
        ),
        (
            "ignores accents written as combining characters", { $0.matching("cre\u{300}me") },
            ["c"]
        ),
        ("does not find the middle of a word", { $0.matching("kitch") }, []),
        ("does not find the end of a word", { $0.matching("chen") }, []),
        (
            "finds the beginning of a word with an asterisk", { $0.matching("kitch*") },
            ["a", "b", "d"]
        ),
        ("finds the whole word with an asterisk", { $0.matching("luigi*") }, ["a"]),
        ("finds a prefix combined with a word", { $0.matching("oce* kitchen") }, ["b"]),
        ("treats punctuation as a separator", { $0.matching("luigi's") }, ["a"]),
        ("finds numbers as words", { $0.matching("24") }, ["d"]),
        ("finds words in the strings of an array", { $0.matching("seafood") }, ["b"]),
        ("finds words in the strings of a map", { $0.matching("harbour") }, ["b"]),
        ("does not find field names", { $0.matching("street") }, []),
        ("ignores numeric values", { $0.matching("1984") }, []),
        ("ignores undeclared fields", { $0.matching("secret") }, []),
        ("covers only the specified fields", { $0.matching("kitchen", in: "name") }, ["a", "d"]),
        (
            "treats quotes and operators as plain text",
            { $0.matching("\"kitchen\" OR -ocean") }, []
        ),
        (
            "finds words in other scripts, in either case",
            { $0.matching("寿司 РЕСТОРАН κόσμος ΟΔΌΣ Ήλιος*") }, ["d"]
        ),
        ("combines with conditions", { $0.matching("kitchen").where(.less("n", 2)) }, ["a"]),
        (
            "keeps the query’s order and limit",
            { $0.matching("kitchen").order(by: "n", .descending).limit(to: 2) }, ["d", "b"]
        ),
        (
            "continues after a value",
            { $0.matching("kitchen").order(by: "n").start(after: 1) }, ["b", "d"]
        ),
        ("finds a document with several occurrences once", { $0.matching("crepe") }, ["c"]),
    ]

    private static func searchCheck(_ row: SearchRow) -> Self {
        search(row.promise) { store in
            try await store.fillForSearch()
            #expect(try await store.ids(row.query(store.query)) == row.found)
        }
    }

    private static func search(
        _ promise: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.textSearch, "a search \(promise)", needs: .textSearch, body)
    }

    private static let searchChecks: [Self] = [
        search("finds documents older than the declaration") { store in
            try await store.set(["name": "Early bird"])
            try await store.declareSearch()
            #expect(try await store.ids(store.query.matching("bird")) == ["d"])
        },
        search("finds added words and not removed words after an update") { store in
            try await store.fillForSearch()
            try await store.update("a", .put("name", "Trattoria"))
            #expect(try await store.ids(store.query.matching("trattoria")) == ["a"])
            #expect(try await store.ids(store.query.matching("kitchen")) == ["b", "d"])
        },
        search("finds no deleted document") { store in
            try await store.fillForSearch()
            try await store.client.deleteDocument(store.path("a"))
            #expect(try await store.ids(store.query.matching("kitchen")) == ["b", "d"])
        },
        search("finds no words of a removed field") { store in
            try await store.fillForSearch()
            try await store.update("a", FieldChange("name", .remove))
            #expect(try await store.ids(store.query.matching("kitchen")) == ["b", "d"])
        },
        search("finds no words of a rejected batch") { store in
            try await store.fillForSearch()
            await store.expect(.documentNotFound) {
                try await store.commit(
                    .set(["name": "Phantom kitchen"], at: store.path("x")),
                    .delete(store.path("missing"), if: .exists)
                )
            }
            #expect(try await store.ids(store.query.matching("phantom")).isEmpty)
        },
        search("covers all collections of a group") { store in
            try await store.fillForSearch()
            let below = store.path("a").collection(store.name).document("below")
            try await store.client.setDocument(below, ["name": "Hidden kitchen"])
            #expect(try await store.ids(store.query.matching("hidden")).isEmpty)
            let group = DocumentQuery(group: store.name)
            #expect(try await store.ids(group.matching("hidden")) == ["below"])
        },
        search("in a collection without a declaration is rejected with an error that names it") {
            store in
            let error = await store.expect(.indexRequired) {
                _ = try await store.ids(store.query.matching("kitchen", in: "name"))
            }
            #expect(error?.message.contains("SearchDefinition(\"\(store.name)\"") == true)
        },
        search("in an undeclared field is rejected") { store in
            try await store.declareSearch()
            await store.expect(.indexRequired) {
                _ = try await store.ids(store.query.matching("kitchen", in: "notes"))
            }
        },
        search("without a word is rejected") { store in
            try await store.declareSearch()
            await store.expect(.invalidArgument) {
                _ = try await store.ids(store.query.matching(" ?! "))
            }
        },
        search("can be counted") { store in
            try await store.fillForSearch()
            #expect(try await store.client.count(store.query.matching("kitchen")) == 3)
        },
    ]
}

extension StoreUnderTest {
    fileprivate func declareSearch() async throws {
        let definition = SearchDefinition(name, fields: ["name", "about", "address"])
        try await adapter.prepare(StorageSchema(searches: [definition]))
    }

    fileprivate func fillForSearch() async throws {
        try await declareSearch()
        try await fill([
            "a": ["n": 1, "name": "Luigi's Kitchen", "about": "Pasta.", "notes": "secret"],
            "b": [
                "n": 2, "name": "The Ocean", "about": ["Kitchen open late", "Seafood"],
                "address": ["street": "12 Harbour Road"],
            ],
            "c": [
                "n": 3, "name": "Cr\u{e8}me Bru\u{302}le\u{301}e",
                "about": "crepe, cr\u{ea}pe; CREPE",
            ],
            "d": [
                "n": 4, "name": "24-hour kitchen", "about": "寿司, ресторан, ΚΌΣΜΟΣ, οδός, ΉΛΙΟΣ",
                "address": 1984,
            ],
        ])
    }
}
