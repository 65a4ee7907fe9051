internal import KeelRepositories
internal import Testing

extension LocalDataSourceCheck {
    static var finding: [Self] {
        [
            Self(.finding, "is empty at first") { it in
                #expect(try await it.source.find("1") == nil)
                try await it.expect([])
            },
            Self(.finding, "returns saved elements unchanged") { it in
                let elements = (0..<20).map { it.element("id\($0)", $0) }
                try await it.source.save(elements)
                for (number, element) in elements.enumerated() {
                    #expect(try await it.source.find("id\(number)") == element)
                }
                try await it.expect(elements)
                #expect(try await it.source.find("id20") == nil)
            },
            Self(.finding, "distinguishes ids by case and by every character") { it in
                let ids = ["a", "A", "a ", "1", "01", "ä", "日本", "a'b", "a\"b", "%", "a_b", "axb"]
                let elements = ids.enumerated().map { it.element($1, $0) }
                try await it.source.save(elements)
                for (id, element) in zip(ids, elements) {
                    #expect(try await it.source.find(id) == element, "\(id)")
                }
                try await it.expect(elements)
            },
            Self(.order, "returns the same order on each call") { it in
                let ids = ["c", "a", "e", "b", "d"]
                for (number, id) in ids.enumerated() {
                    try await it.source.save(it.element(id, number))
                }
                let order = try await it.source.findAll()
                #expect(try await it.source.findAll() == order)
                try await it.source.save(it.element("x", 7))
                try await it.source.delete("x")
                #expect(try await it.source.findAll() == order)
            },
            Self(.order, "keeps the place of a replaced element") { it in
                for id in ["c", "a", "b"] { try await it.source.save(it.element(id, 1)) }
                let order = try await it.source.findAll()
                let place = order.firstIndex(of: it.element("a", 1))
                try await it.source.save(it.element("a", 2))
                let changed = try await it.source.findAll()
                #expect(changed.firstIndex(of: it.element("a", 2)) == place)
            },
        ]
    }

    static var saving: [Self] {
        [
            Self(.saving, "replaces an element with the same id") { it in
                try await it.source.save([it.element("1", 1), it.element("2", 2)])
                try await it.source.save(it.element("1", 3))
                #expect(try await it.source.find("1") == it.element("1", 3))
                try await it.expect([it.element("1", 3), it.element("2", 2)])
            },
            Self(.saving, "keeps the last of several elements with the same id in one call") { it in
                try await it.source.save((1...4).map { it.element("1", $0) })
                try await it.expect([it.element("1", 4)])
                try await it.source.save((5...6).map { it.element("1", $0) })
                try await it.expect([it.element("1", 6)])
            },
            Self(.saving, "ignores a save without elements") { it in
                try await it.source.save(it.element("1"))
                try await it.source.save([])
                try await it.expect([it.element("1")])
            },
            Self(.saving, "handles more elements than a database takes at a time") { it in
                let ids = (0..<1_200).map { "id\($0)" }
                try await it.source.save(ids.map { it.element($0, 1) })
                #expect(try await it.source.findAll().count == ids.count)
                try await it.source.save(ids.map { it.element($0, 2) })
                #expect(try await it.source.findAll().count == ids.count)
                #expect(try await it.source.find("id1199") == it.element("id1199", 2))
                try await it.source.delete(ids)
                try await it.expect([])
            },
        ]
    }

    static var deleting: [Self] {
        [
            Self(.deleting, "removes only the elements with the given ids") { it in
                try await it.source.save((1...4).map { it.element("\($0)", $0) })
                try await it.source.delete(["1", "3"])
                #expect(try await it.source.find("1") == nil)
                try await it.expect([it.element("2", 2), it.element("4", 4)])
            },
            Self(.deleting, "ignores a deletion of an absent id") { it in
                try await it.source.delete("1")
                try await it.source.save([it.element("1"), it.element("2")])
                try await it.source.delete(["1", "1", "9"])
                try await it.source.delete("1")
                try await it.source.delete([])
                try await it.expect([it.element("2")])
            },
            Self(.deleting, "saves an element again after its deletion") { it in
                try await it.source.save(it.element("1", 1))
                try await it.source.delete("1")
                try await it.source.save(it.element("1", 2))
                try await it.expect([it.element("1", 2)])
            },
            Self(.deleting, "removes everything, even when empty") { it in
                try await it.source.removeAll()
                try await it.source.save((0..<30).map { it.element("\($0)", $0 % 20) })
                try await it.source.removeAll()
                #expect(try await it.source.find("1") == nil)
                try await it.expect([])
                try await it.source.save(it.element("1", 5))
                try await it.expect([it.element("1", 5)])
            },
        ]
    }

    static var conditions: [Self] {
        [
            Self(.conditions, "finds only the elements that match a predicate") { it in
                try await it.expectConditions(on: [])
                let elements = (0..<20).map { it.element("id\($0)", $0) }
                try await it.source.save(elements)
                try await it.expectConditions(on: elements)
            },
            Self(.conditions, "evaluates predicates on the current elements") { it in
                let elements = (0..<20).map { it.element("id\($0)", $0) }
                try await it.source.save(elements)
                try await it.expectConditions(on: elements)
                let changed = (0..<20).map { it.element("id\($0)", 19 - $0) }
                try await it.source.save(changed)
                try await it.expectConditions(on: changed)
                try await it.source.delete((0..<10).map { "id\($0)" })
                try await it.expectConditions(on: Array(changed[10...]))
            },
        ]
    }

    static var concurrency: [Self] {
        [
            Self(.concurrency, "keeps all elements that many tasks save concurrently") { it in
                try await withThrowingTaskGroup { group in
                    for number in 0..<20 {
                        group.addTask {
                            try await it.source.save(it.element("id\(number)", number))
                        }
                    }
                    try await group.waitForAll()
                }
                try await it.expect((0..<20).map { it.element("id\($0)", $0) })
            },
            Self(.concurrency, "keeps one element when many tasks save the same id") { it in
                try await withThrowingTaskGroup { group in
                    for number in 0..<20 {
                        group.addTask { try await it.source.save(it.element("1", number)) }
                    }
                    try await group.waitForAll()
                }
                #expect(try await it.source.findAll().count == 1)
                #expect(try await it.source.find("1") != nil)
            },
        ]
    }
}
