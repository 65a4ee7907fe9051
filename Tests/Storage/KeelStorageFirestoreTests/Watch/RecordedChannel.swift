/// A session of a channel with Google’s Firestore emulator 528.0.0, as its bytes were received.
///
/// A target of a query was added, a document was set and another deleted, and the target was removed.
enum RecordedChannel {
    static let database = "projects/recorded539/databases/(default)"
    /// The reply to the first POST.
    static let opening = #"""
        52
        [[0,["c","xDHYffnP4UEgt8tggpdnkw==","",8,12,30000]]]
        """#
    /// The reply to the GET, up to the removal of the target, and after it.
    static let stream = [
        #"""
        579
        [[1,[{"targetChange":{"targetChangeType":"ADD","targetIds":[2]}}]],[2,[{"documentChange":{"docum\#
        ent":{"name":"projects/recorded539/databases/(default)/documents/a/1","fields":{"n":{"integerVal\#
        ue":"1"},"t":{"stringValue":"é😀漢"}},"createTime":"2026-11-27T21:28:34.483040Z","updateTime":"202\#
        6-11-27T21:28:34.483040Z"},"targetIds":[2]}}]],[3,[{"targetChange":{"targetChangeType":"CURRENT"\#
        ,"targetIds":[2],"resumeToken":"CgkIgLPB8IupmAM=","readTime":"2026-11-27T21:28:34.546048Z"}}]],[\#
        4,[{"targetChange":{"resumeToken":"CgkI97XB8IupmAM=","readTime":"2026-11-27T21:28:34.546423Z"}}]\#
        ]]14
        [[5,["noop"]]]143
        [[6,[{"targetChange":{"targetChangeType":"RESET","targetIds":[2],"resumeToken":"CgkIlrvj8IupmAM=\#
        ","readTime":"2026-11-27T21:28:35.104150Z"}}]]]270
        [[7,[{"documentChange":{"document":{"name":"projects/recorded539/databases/(default)/documents/a\#
        /1","fields":{"n":{"integerValue":"1"},"t":{"stringValue":"é😀漢"}},"createTime":"2026-11-27T21:28\#
        :34.483040Z","updateTime":"2026-11-27T21:28:34.483040Z"},"targetIds":[2]}}]]]270
        [[8,[{"documentChange":{"document":{"name":"projects/recorded539/databases/(default)/documents/a\#
        /2","fields":{"n":{"integerValue":"2"},"t":{"stringValue":"é😀漢"}},"createTime":"2026-11-27T21:28\#
        :35.103677Z","updateTime":"2026-11-27T21:28:35.103677Z"},"targetIds":[2]}}]]]145
        [[9,[{"targetChange":{"targetChangeType":"CURRENT","targetIds":[2],"resumeToken":"CgkIlfzj8IupmA\#
        M=","readTime":"2026-11-27T21:28:35.112469Z"}}]]]101
        [[10,[{"targetChange":{"resumeToken":"CgkI1MDk8IupmAM=","readTime":"2026-11-27T21:28:35.121236Z"\#
        }}]]]144
        [[11,[{"targetChange":{"targetChangeType":"RESET","targetIds":[2],"resumeToken":"CgkItev+8IupmAM\#
        =","readTime":"2026-11-27T21:28:35.552693Z"}}]]]271
        [[12,[{"documentChange":{"document":{"name":"projects/recorded539/databases/(default)/documents/\#
        a/2","fields":{"n":{"integerValue":"2"},"t":{"stringValue":"é😀漢"}},"createTime":"2026-11-27T21:2\#
        8:35.103677Z","updateTime":"2026-11-27T21:28:35.103677Z"},"targetIds":[2]}}]]]146
        [[13,[{"targetChange":{"targetChangeType":"CURRENT","targetIds":[2],"resumeToken":"CgkItrr/8Iupm\#
        AM=","readTime":"2026-11-27T21:28:35.562806Z"}}]]]101
        [[14,[{"targetChange":{"resumeToken":"CgkI8M7/8IupmAM=","readTime":"2026-11-27T21:28:35.565424Z"\#
        }}]]]
        """#,
        #"""
        71
        [[15,[{"targetChange":{"targetChangeType":"REMOVE","targetIds":[2]}}]]]
        """#,
    ]
    /// The reply to the second POST.
    static let forward = #"""
        8
        [1,14,7]
        """#
}
