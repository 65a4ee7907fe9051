import KeelDependencies
import Testing

@Suite("Overrides")
struct OverrideTests {
    private struct Refusal: Error { let reason: String }

    @Test("An override applies to its operation and ends with it")
    func endsWithItsOperation() {
        let inside = withDependencies {
            $0.greeter.name = "inside"
        } operation: {
            Welcome().name
        }
        #expect(inside == "inside")
        #expect(Welcome().name == "test")
    }

    @Test("A nested override applies inside and leaves the outer one unchanged")
    func nests() {
        withDependencies {
            $0.greeter.name = "outer"
        } operation: {
            withDependencies {
                $0.greeter.name += ", inner"
            } operation: {
                #expect(Welcome().name == "outer, inner")
            }
            #expect(Welcome().name == "outer")
        }
    }

    @Test("A key can be read without a property")
    func readsByKey() {
        @Dependency(GreeterKey.self) var greeter
        #expect(greeter.name == "test")
        withDependencies {
            $0[GreeterKey.self] = Greeter(name: "set")
        } operation: {
            #expect(greeter.name == "set")
        }
    }

    @Test("An override ends if its operation throws, and the error keeps its type")
    func endsWhenItsOperationThrows() async {
        #expect(throws: Refusal.self) {
            try withDependencies {
                $0.greeter.name = "set"
            } operation: { () throws(Refusal) in
                throw Refusal(reason: "closed")
            }
        }
        do throws(Refusal) {
            try await withDependencies {
                $0.greeter.name = "set"
            } operation: { () async throws(Refusal) in
                await Task.yield()
                throw Refusal(reason: "full")
            }
        } catch {
            #expect(error.reason == "full")
        }
        #expect(Welcome().name == "test")
    }

    @Test("An optional value can be set to nil")
    func setsOptionals() {
        enum OptionalKey: DependencyKey {
            static var liveValue: Int? { 1 }
            static var testValue: Int? { 2 }
        }
        @Dependency(OptionalKey.self) var number
        #expect(number == 2)
        withDependencies {
            $0[OptionalKey.self] = nil
        } operation: {
            #expect(number == nil)
        }
    }

    @Test("An object keeps the override in which it was created")
    func objectsKeepTheirOverride() {
        let welcome = withDependencies {
            $0.greeter.name = "made here"
        } operation: {
            Welcome()
        }
        #expect(welcome.name == "made here")
    }

    @Test("An override around a use reaches an object created before")
    func usesReachOlderObjects() {
        let welcome = Welcome()
        withDependencies {
            $0.greeter.name = "used here"
        } operation: {
            #expect(welcome.name == "used here")
        }
    }

    @Test("An object created deeper than its use keeps its own override")
    func theInnermostOverrideWins() {
        withDependencies {
            $0.greeter.name = "outer"
        } operation: {
            let welcome = withDependencies {
                $0.greeter.name = "inner"
            } operation: {
                Welcome()
            }
            #expect(welcome.name == "inner")
        }
    }

    @Test("Between overrides of equal depth, the one around the use takes precedence")
    func theUseWinsATie() {
        let welcome = withDependencies {
            $0.greeter.name = "made here"
        } operation: {
            Welcome()
        }
        withDependencies {
            $0.greeter.name = "used here"
        } operation: {
            #expect(welcome.name == "used here")
        }
    }

    @Test("The main actor is kept inside an override")
    @MainActor
    func staysOnItsActor() async {
        var isOnMainActor = false
        await withDependencies {
            $0.greeter.name = "set"
        } operation: {
            MainActor.assertIsolated()
            await Task.yield()
            MainActor.assertIsolated()
            isOnMainActor = true
        }
        #expect(isOnMainActor)
    }
}
