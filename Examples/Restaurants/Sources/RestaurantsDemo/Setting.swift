import Foundation

/// What a demonstration needs: the programs, the data and a folder for the store.
struct Setting: Sendable {
    /// A restaurant of the data, to compare the app's output with.
    struct Known: Decodable, Sendable {
        let id: String
        let name: String
        let borough: String
        /// Where it is, in the file's own words: the service's form, or that of inspections.
        private let lat: Double?
        private let lng: Double?
        private let location: Location?

        /// Degrees north and east; nil for one that nobody has measured.
        var place: (latitude: Double, longitude: Double)? {
            if let location { return (location.latitude, location.longitude) }
            guard let lat, let lng else { return nil }
            return (lat, lng)
        }

        private struct Location: Decodable, Sendable {
            let latitude: Double
            let longitude: Double
        }
    }

    /// The folder that the programs are in.
    let programs: URL
    /// The restaurants that are served.
    let data: URL
    /// What is in the data.
    let restaurants: [Known]
    /// An empty folder, gone at the end.
    let folder: URL

    var store: String { folder.appending(path: "Restaurants.sqlite").path(percentEncoded: false) }

    init(data file: String?) throws {
        guard let program = Bundle.main.executableURL else {
            throw DemoFailure("cannot tell where this program is")
        }
        programs = program.resolvingSymlinksInPath().deletingLastPathComponent()
        data = file.map { URL(fileURLWithPath: $0) } ?? Self.ownData
        restaurants = try Self.read(data)
        folder = FileManager.default.temporaryDirectory
            .appending(path: "restaurants-demo-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The first restaurant whose place is known.
    var measured: Known? { restaurants.first { $0.place != nil } }

    /// Its place, as the app reads one.
    var place: String { measured?.place.map { "\($0.latitude),\($0.longitude)" } ?? "0,0" }

    func cleanUp() {
        // The system empties its temporary folder anyway.
        try? FileManager.default.removeItem(at: folder)
    }

    /// The files in the folder and in the folders in it.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))
            .filter { path in
                var isFolder: ObjCBool = false
                let file = folder.appending(path: path).path(percentEncoded: false)
                return FileManager.default.fileExists(atPath: file, isDirectory: &isFolder)
                    && !isFolder.boolValue
            }
    }

    func program(_ name: String) throws -> URL {
        let program = programs.appending(path: name)
        guard FileManager.default.isExecutableFile(atPath: program.path(percentEncoded: false))
        else {
            throw DemoFailure("\(name) is not beside this program: run Scripts/demo.sh")
        }
        return program
    }

    /// Writes the data without one restaurant.
    func writeData(without id: String, to file: URL) throws {
        let decoder = JSONDecoder()
        let lines = try String(contentsOf: data, encoding: .utf8).split(separator: "\n").filter {
            (try? decoder.decode(Known.self, from: Data($0.utf8)))?.id != id
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
    }

    /// `Data/restaurants.jsonl` of this package: the demonstration runs where it was built.
    private static var ownData: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Data/restaurants.jsonl").standardized
    }

    private static func read(_ file: URL) throws -> [Known] {
        let text: String
        do {
            text = try String(contentsOf: file, encoding: .utf8)
        } catch {
            throw DemoFailure("cannot read \(file.relativePath): give another with --data FILE")
        }
        let decoder = JSONDecoder()
        let known = text.split(separator: "\n").compactMap { line in
            // A bad line is the service's to report, with its number.
            try? decoder.decode(Known.self, from: Data(line.utf8))
        }
        guard known.count >= 10 else {
            throw DemoFailure("\(file.relativePath) has fewer than 10 restaurants")
        }
        return known
    }
}

/// Why a step did not hold.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
