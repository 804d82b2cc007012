//! Many machines: reads a folder of records, groups the machines by what they are, and finds those that are not like their group.
